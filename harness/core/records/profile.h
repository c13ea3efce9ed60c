// harness/core/records/profile.h - the profile of one configuration: metrics, roofs, stalls by source line, and what
// they sum up to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/variant.h"

namespace apo {

// A measured quantity with its unit, and with an interval where one was estimated.
struct Metric {
  std::string name;  // "time", "gflops", "gb_per_s", "special_per_s", "instructions", ...
  double value = 0;
  std::string unit;
  std::optional<double> lower;
  std::optional<double> upper;
  int samples = 0;
  bool operator==(const Metric&) const = default;
};
APO_FIELDS(Metric, name, value, unit, lower, upper, samples)

// Metrics with how often a call has to evaluate a special function, where the family tells: "special_count_exp".
inline constexpr std::string_view kSpecialCount = "special_count_";

// A rate that this machine was measured to reach: a ceiling of the roofline.
struct Roof {
  std::string name;  // "fp32_fma", "memory_copy", "special_tanh", ...
  double value = 0;
  std::string unit;  // "flop/s", "byte/s", "op/s"
  double lower = 0;
  double upper = 0;
  int samples = 0;
  std::string note;  // how it was measured: sizes, threads, instruction set
  bool operator==(const Roof&) const = default;
};
APO_FIELDS(Roof, name, value, unit, lower, upper, samples, note)

// Warps that the GPU's sampler found at one instruction in one state.
struct StallSample {
  std::string kernel;
  std::int64_t pc_offset = 0;  // bytes from the kernel's begin
  std::string file;            // without its folder; empty where the cubin has no line for it
  int line = 0;                // where a short helper was inlined: the line that calls it
  std::string stall;           // "barrier", "long_scoreboard", ...; "selected" when it issued
  std::int64_t samples = 0;
  // The instruction that holds the warp up, where the machine code tells it: the load that it waits for, or the barrier
  // behind which it stands. Else the sampled instruction.
  std::string opcode;  // "LDG", "BAR", ...; "" for the many that no diagnosis asks for
  std::string cause_file;
  int cause_line = 0;
  std::string inlined;  // from `line` inwards: "reduce (sum.h:8) > low (bf16.h:2)"; empty where nothing was inlined
  bool operator==(const StallSample&) const = default;
};
APO_FIELDS(StallSample, kernel, pc_offset, file, line, stall, samples, opcode, cause_file, cause_line, inlined)
template <>
inline constexpr bool kIsRow<StallSample> = true;

// A launch of a call on a GPU by itself: profilers run one after the other. NaN, or "": the GPU did not tell.
struct ProfiledLaunch {
  std::string kernel;
  double time_ns = 0;
  double bytes_moved = 0;  // of DRAM, read and written
  double occupancy = 0;    // the active warps' share of those that an SM can hold
  double issue = 0;        // share of the issue slots
  std::string stall;       // what the kernel's warps mostly wait for
  double stall_share = 0;  // of the samples in them
  bool operator==(const ProfiledLaunch&) const = default;
};
APO_FIELDS(ProfiledLaunch, kernel, time_ns, bytes_moved, occupancy, issue, stall, stall_share)

// An exact count of waste or work on a line in one call.
struct LineCount {
  std::string what;  // "excess_sectors", "local_sectors", "excess_wavefronts", "divergent_branches", "idle_lanes",
                     // "atomics", "barriers"
  std::string file;
  int line = 0;
  std::int64_t count = 0;
  bool operator==(const LineCount&) const = default;
};
APO_FIELDS(LineCount, what, file, line, count)

// The text of a line that has samples.
struct SourceLine {
  std::string file;
  int line = 0;
  std::string text;
  bool operator==(const SourceLine&) const = default;
};
APO_FIELDS(SourceLine, file, line, text)

// The resource that keeps an SM from holding more blocks of a launch.
enum class BlockLimiter : std::uint8_t { threads, registers, shared_memory, blocks, grid };  // grid: there are no more

std::string_view to_string(BlockLimiter limiter);

inline constexpr const char* kBlocksPerSm = "blocks_per_sm";  // a metric

struct Profile {
  Configuration configuration;
  std::string workload;
  std::string rung;     // "perf_event counters", "timers"; on cuda "counters+pc", "counters", "events"
  std::string missing;  // which better rung was not there, and why; empty when none
  std::vector<Metric> metrics;
  std::vector<Roof> roofs;
  double floor_ns = 0;              // max over roofs of work / roof
  std::string floor_roof;           // which roof binds
  double time_ns = 0;               // median of one call
  double floor_fraction = 0;        // floor_ns / time_ns
  std::string conditions;           // how the counters were read: state of the caches, passes; empty without counters
  std::vector<StallSample> stalls;  // the most frequent first
  std::vector<SourceLine> lines;    // of `stalls`
  std::vector<LineCount> counts;    // the largest of each kind first
  std::vector<ProfiledLaunch> launches;  // in their order; empty without counters

  // NaN when absent.
  double metric(const std::string& name) const;
  // Of the metric kBlocksPerSm, whose unit names it; nullopt when absent.
  std::optional<BlockLimiter> block_limiter() const;
  bool operator==(const Profile&) const = default;
};

Metric blocks_per_sm_metric(std::int64_t blocks, BlockLimiter limiter);

// Returns the states by share, the largest first, without "selected".
std::vector<std::pair<std::string, double>> top_stalls(const Profile& profile);

// Samples of one source line and the most frequent state among them.
struct HotLine {
  std::string file;
  int line = 0;
  std::string text;
  std::int64_t samples = 0;
  double share = 0;  // of all samples
  std::string stall;
  double stall_share = 0;  // of this line's samples
  std::string inlined;     // StallSample::inlined of most of them
};
std::vector<HotLine> hot_lines(const Profile& profile, std::size_t most);

}  // namespace apo
