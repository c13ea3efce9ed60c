// harness/core/records/selftest_record.h - records of a selftest: the judge on kernels with a known difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/conditions.h"
#include "harness/core/records/outcome.h"
#include "harness/core/records/variant.h"
#include "harness/core/words.h"

namespace apo {

// `aa` compares identical code, `power` code of known extra length, `layout` identical code in two layouts.
enum class SelftestKind : std::uint8_t { aa, power, layout };
APO_WORDS(SelftestKind, selftest_kind_from, aa, power, layout)

// The samples of a comparison's rounds: windows on a host.
struct SamplePlan {
  int calls = 0;              // in a sample; 0: of a journal that does not say
  int blocks = 0;             // in a round
  bool several_cpus = false;  // on a host both arms had all CPUs, else one
  bool operator==(const SamplePlan&) const = default;
};

// One whole judgement. Effects are natural logs of time(incumbent) / time(candidate).
struct SelftestComparison {
  SelftestKind kind = SelftestKind::aa;
  Configuration incumbent;
  Configuration candidate;
  std::string workload;
  double truth = 0;
  bool random_layout = true;
  Verdict verdict = Verdict::inconclusive;
  Reason reason = Reason::unresolved;
  double effect = 0;  // of the stage that may be claimed
  double lower = 0;
  double upper = 0;
  int rounds = 0;               // of that stage
  int processes = 0;            // rounds of all stages
  double seconds = 0;           // wall
  std::vector<double> effects;  // of every round that counts, in order, search first
  std::string sentence = {};    // the judgement's; "" of a journal that does not say
  SamplePlan samples = {};
  bool operator==(const SelftestComparison&) const = default;
};

// The noise of one kernel over all rounds of identical code. Standard deviations are of logarithms.
struct SelftestKernel {
  Configuration configuration;
  std::string workload;
  std::string preset;   // of the judge
  double call_ns = 0;   // median of one call
  double round_s = 0;   // wall time of a round that has a process of its own
  double kernel_s = 0;  // kernel time of a round
  double start_s = 0;   // of a process
  int rounds_per_process = 1;
  double round_sd = 0;   // sd(d): of a round's effect
  double sample_sd = 0;  // what each level adds, see NoiseLevels
  double block_sd = 0;
  double within_sd = 0;
  double layout_sd = 0;
  double process_sd = 0;
  std::optional<double> resolves_1s;  // detected in 95 of 100 cases within so much kernel time
  std::optional<double> resolves_10s;
  std::optional<double> resolves_60s;
  double smallest_claim = 0;
  bool operator==(const SelftestKernel&) const = default;
};

struct Selftest {
  std::int64_t id = 0;
  std::string machine;  // Machine::id
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset;  // "auto", or the one that was asked for
  std::string rule_version;
  std::uint64_t seed = 0;  // of every round; known once it is over
  std::string started_at;
  std::string ended_at;  // empty when it was interrupted
  double seconds = 0;
  double smallest_claim = 0;  // on kernels that were not measured
  std::vector<SelftestKernel> kernels;
  bool operator==(const Selftest&) const = default;
};

}  // namespace apo
