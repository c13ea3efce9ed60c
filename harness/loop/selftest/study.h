// harness/loop/selftest/study.h - the noise of one kernel by level, and what the judge resolves and may claim on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/evaluate/judge/resolution.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/selftest/selftest_plan.h"
#include "harness/loop/selftest/selftest_request.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

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

}  // namespace apo
