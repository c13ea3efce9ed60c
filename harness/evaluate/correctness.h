// harness/evaluate/correctness.h - the gates before timing: shapes and regimes against the reference, then sanitizers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/records.h"
#include "harness/evaluate/lab.h"

namespace apo {

// One workload in several input regimes; every regime is a call in one worker, so an output left over from the call
// before is seen.
struct CheckCase {
  std::string workload;
  Axes axes;
  std::vector<std::string> regimes;
  std::uint64_t seed = 0;  // of its inputs; 0: from the seed of the check
};

struct CheckResult {
  Outcome outcome = Outcome::valid;
  std::string evidence;
  std::int64_t elements = 0;  // compared
  int calls = 0;
  std::string confinement;  // what held the candidate
  double seconds = 0;
};

// Every small and ragged workload of the family, two regimes each in turn so that all are seen, the first one with all
// of them; then the campaign's own workloads with the typical and one more regime. Those of them that share their
// inputs among experiments take these from `shared_seed`.
std::vector<CheckCase> correctness_plan(const Family& family, const std::vector<std::string>& campaign_workloads,
                                        std::uint64_t seed, std::uint64_t shared_seed = 0);

// Runs one case with fresh inputs from the seed.
CheckResult check_case(const Lab& lab, const Configuration& configuration, const CheckCase& one, std::uint64_t seed,
                       bool sanitize = false);

// The same with a build that is there already, in a worker that `options` describe.
CheckResult check_build(const Lab& lab, const Configuration& configuration, const Build& build, const CheckCase& one,
                        std::uint64_t seed, const WorkerOptions& options);

using CheckProgress = std::function<void(int done, int all, const std::string& what)>;

// Gate "correctness": all cases that the configuration supports, until one fails.
GateResult correctness_gate(const Lab& lab, const Configuration& configuration, const std::vector<CheckCase>& plan,
                            std::uint64_t seed, const CheckProgress& progress = {});

// Gate "sanitizers": the smallest ragged case that the configuration supports, built with ASan and UBSan; on target
// cuda under compute-sanitizer. Its evidence says so when there is no sanitizer here. Throws EnvironmentError when
// there is one that does not work.
GateResult sanitizer_gate(const Lab& lab, const Configuration& configuration, const std::vector<CheckCase>& plan,
                          std::uint64_t seed);

}  // namespace apo
