// harness/worker/protocol/profile_results.h - what a worker reads off the GPU's profilers and driver, and its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/records.h"

namespace apo {

// One launch of one kernel. NaN where the GPU gave no number.
struct LaunchCounters {
  std::string kernel;
  std::vector<double> values;  // in the order of CounterReport::metrics
  bool operator==(const LaunchCounters&) const = default;
};
APO_FIELDS(LaunchCounters, kernel, values)

struct RefusedMetric {
  std::string metric;
  std::string why;
  bool operator==(const RefusedMetric&) const = default;
};
APO_FIELDS(RefusedMetric, metric, why)

// The host's time of one step of collecting: "profiler", "pass 1 start", ...
struct CountingStep {
  std::string what;
  double seconds = 0;
  bool operator==(const CountingStep&) const = default;
};
APO_FIELDS(CountingStep, what, seconds)

struct CounterReport {
  std::vector<std::string> metrics;      // those that were collected
  std::vector<LaunchCounters> launches;  // in launch order
  std::vector<RefusedMetric> refused;    // those that this GPU does not have
  std::vector<std::string> clamped;      // percentages that came out above 100 and were cut there
  int passes = 0;
  std::string chip;                 // "GH100"
  std::string missing;              // one sentence when there are no counters
  std::vector<CountingStep> steps;  // in the order in which they came
  bool operator==(const CounterReport&) const = default;
};
APO_FIELDS(CounterReport, metrics, launches, refused, clamped, passes, chip, missing, steps)

struct SampleReport {
  std::vector<StallSample> samples;  // by kernel, offset and stall
  std::int64_t total = 0;            // user kernels' samples, dropped ones included
  std::int64_t dropped = 0;
  std::string missing;  // one sentence when there are no samples
  bool operator==(const SampleReport&) const = default;
};
APO_FIELDS(SampleReport, samples, total, dropped, missing)

// The quantities counted for each instruction; the values of an InstructionCount have this order.
enum CountedOf : std::size_t {
  kWarps,             // executions by a warp
  kThreads,           // by a thread
  kDivergent,         // by warps whose threads went apart there
  kGlobalSectors,     // of global memory that were touched
  kGlobalIdeal,       // if no byte of them had been wasted
  kLocalSectors,      // of local memory
  kSharedWavefronts,  // of shared memory
  kSharedIdeal,       // without bank conflicts
  kCountedKinds
};

// One instruction of one kernel.
struct InstructionCount {
  std::string kernel;
  std::int64_t pc_offset = 0;
  std::string opcode;  // "LDG", ...; "" for those that no diagnosis asks for
  std::string file;    // as in StallSample
  int line = 0;
  std::vector<std::int64_t> values;  // in the order of CountedOf
  bool operator==(const InstructionCount&) const = default;
};
APO_FIELDS(InstructionCount, kernel, pc_offset, opcode, file, line, values)
template <>
inline constexpr bool kIsRow<InstructionCount> = true;

struct InstructionReport {
  std::vector<InstructionCount> instructions;  // of one call; those that were executed
  std::vector<std::string> kernels;            // of one call, in launch order
  std::string missing;                         // one sentence when there are none
  std::vector<std::string> attempts;           // what each way of counting came to, in their order
  bool operator==(const InstructionReport&) const = default;
};
APO_FIELDS(InstructionReport, instructions, kernels, missing, attempts)

std::string encode(const CounterReport& report);
std::string encode(const SampleReport& report);
std::string encode(const InstructionReport& report);
// Return nullopt for malformed text, because it comes from another process.
std::optional<CounterReport> decode_counters(std::string_view text);
std::optional<SampleReport> decode_samples(std::string_view text);
std::optional<InstructionReport> decode_instructions(std::string_view text);

}  // namespace apo
