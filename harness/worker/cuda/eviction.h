// harness/worker/cuda/eviction.h - empties the L2 before a cold sample.
//
// By reading a buffer of more than twice its size. A buffer that was written would leave the L2 full of lines that the
// sample's own traffic has to write back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/worker/cuda/driver.h"
#include "harness/worker/cuda/own_kernel.h"

namespace apo {

// The kernel's name, for profilers that meet it.
inline constexpr const char* kEvictionKernel = "apo_evict_l2";

class L2Eviction {
 public:
  // Allocates the buffer and loads the kernel; of the current context, for the rest of the process.
  cuda::Result set_up(const cuda::Driver& driver, std::int64_t l2_bytes, std::int64_t multiprocessors);
  // Queues the eviction.
  cuda::Result queue(const cuda::Driver& driver, cuda::Stream stream) const;

 private:
  cuda::Pointer buffer_ = 0;
  std::uint64_t bytes_ = 0;
  unsigned blocks_ = 0;
  OwnKernel kernel_;
};

}  // namespace apo
