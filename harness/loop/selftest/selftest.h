// harness/loop/selftest/selftest.h - runs the judge on this machine: identical code, known differences, noise by level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/selftest_record.h"
#include "harness/evaluate/judge/resolution.h"
#include "harness/evaluate/plan.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct SelftestRequest {
  Target target = Target::host;
  std::vector<std::string> kernels;  // VARIANT@WORKLOAD; empty: the bundled ones
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset = "auto";  // by each kernel's noise
  Layout layout = Layout::random;
  double round_s = 0;  // kernel time of a round; 0: the profile's
  // The parts that follow the noise study of each kernel. Each part gets its share of the time.
  bool same_code = true;
  bool known_pairs = true;
  std::vector<int> differences;  // of these, in thousandths; empty: the usual ones
  double seconds = 600;
  int comparisons = 0;  // > 0: of identical code, however long they take
  int rounds = 0;       // > 0: no comparison begins after so many rounds
  bool quick = false;   // fewer processes for the noise
};

struct SelftestSubject {
  Configuration configuration;
  const Family* family = nullptr;
  const Workload* workload = nullptr;
};

// Parses "copy/simple@n1m" or "spin/chain[EXTRA=0]@s5k"; the default workload is the family's first one for the target.
// Without names it selects spins of several lengths and bundled variants of the other families. Variants that this
// machine does not support are skipped, with the reason in `left_out`. Throws UserError for unknown names, another
// target and an unsupported workload.
std::vector<SelftestSubject> selftest_subjects(Workspace& workspace, Target target,
                                               const std::vector<std::string>& names,
                                               std::vector<std::string>& left_out);

// The differences, in thousandths, for which EXTRA of the spins has values.
inline constexpr int kSpinThousandths[] = {1, 2, 3, 5, 10, 20, 50};
// Returns pairs of a spin with gains of this many thousandths, losses below 0: the incumbent has extra work, or for a
// loss the candidate. The default is 0.5, 1, 2 and 5 %, on a GPU also 0.1, 0.2 and 0.3 %, and the loss of 1 %. Values
// that are no whole step of this spin are dropped. Nothing of another kernel.
std::vector<SelftestComparison> known_pairs(const SelftestSubject& subject, std::vector<int> thousandths = {});

// The results for one kernel so far.
struct StudiedKernel {
  SelftestSubject what;
  Runtime runtime;
  EvaluatePlan plan;
  SelftestKernel kernel;
  RoundCost cost;
  double claim_sd = 0;            // of a round's effect, as the judge's robust estimate sees it
  std::vector<double> apparent;   // effects that identical code seemed to have
  std::vector<double> variances;  // of the rounds of each of these comparisons
};

// Measures the noise and chooses the judge's preset by it. A disturbed study is repeated, with a note in `remarks`.
// Throws EnvironmentError when it is disturbed again and again.
StudiedKernel study_kernel(Workspace& workspace, const SelftestRequest& request, const SelftestSubject& what,
                           std::uint64_t seed, Observer& observer, std::vector<std::string>& remarks);

// Returns the kernel's row, from the study and the comparisons of identical code.
SelftestKernel conclude(const StudiedKernel& studied, const SelftestRequest& request);

struct SelftestResult {
  Selftest selftest;
  Machine machine;
  std::vector<SelftestComparison> comparisons;
  std::vector<std::string> remarks;
};

// Judges every comparison as `apo compare` does, and stores it in the journal at once. Throws UserError for unknown
// names, EnvironmentError where a bundled kernel does not run.
SelftestResult run_selftest(Workspace& workspace, const SelftestRequest& request, Observer& observer);

}  // namespace apo
