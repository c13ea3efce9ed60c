// harness/profile/gpu/occupancy.h - how many blocks an SM can hold, and how the last wave fills it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Blocks of a grid, or threads of a block.
inline std::int64_t product(const std::array<std::int64_t, 3>& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

struct LaunchShape {
  std::int64_t blocks = 0;
  std::int64_t threads = 0;       // of a block
  std::int64_t registers = 0;     // of a thread
  std::int64_t shared_bytes = 0;  // of a block, static and dynamic
};

struct SmLimits {
  std::int64_t sms = 0;
  std::int64_t threads = 0;  // of one SM, as the next three
  std::int64_t blocks = 0;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
};

struct Occupancy {
  std::int64_t blocks_per_sm = 0;
  BlockLimiter limiter = BlockLimiter::threads;
  double occupancy = 0;   // resident threads / the most there can be, while there are blocks enough
  double waves = 0;       // rounds of resident blocks; below 1 when not even the first is full
  double idle_share = 0;  // of the SMs' time, if every block takes as long: what the last round leaves empty
};

// Returns all zeros when a number is missing or a block fits no SM.
Occupancy occupancy_of(const LaunchShape& launch, const SmLimits& limits);

// Returns metrics of the launch of `kernel`, or where that is not launched of any kernel, that has the fewest threads
// per SM: registers, spill_bytes, block_shared_bytes, blocks, block_threads, blocks_per_sm (its unit names the
// limiter), occupancy, waves, idle_share. Empty when `machine` lacks the facts of its SMs.
std::vector<Metric> occupancy_metrics(const Build& build, const Machine& machine, const std::string& kernel = "");

}  // namespace apo
