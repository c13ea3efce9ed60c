// harness/loop/trial/trial.h - a campaign over variants that somebody named, for `apo try`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// What a command says of how to judge; "" and no workload are the defaults.
struct TrialChoice {
  std::string family;
  std::vector<std::string> workloads;  // default: the first for the target
  std::string cache;
  std::string judge;
};

// UserError for a word or a workload that is none.
Policy trial_policy(const Workspace& workspace, const TrialChoice& choice, Target target);

struct TrialRequest {
  Policy policy;                      // complete but for its iterations
  std::vector<std::string> variants;  // of the policy's family and target, in the order of their trial
};

struct TrialSummary {
  std::int64_t campaign = 0;  // 0: there was nothing to judge
  Configuration incumbent;    // at the end
  std::vector<Certification> certifications;
};

// Told of each verdict as it falls. A variant that is the incumbent already has no experiment.
using OnTrial = std::function<void(const std::string& variant, const Experiment* experiment)>;

// Judges each against the incumbent of this machine, else against the family's baseline; an accepted one is the
// incumbent from then on. The journal gets the rows of a campaign with one candidate an iteration.
TrialSummary run_trial(Workspace& workspace, const TrialRequest& request, Observer& observer, const OnTrial& told);

// What the author said of the candidate over this very incumbent; else nothing.
Prediction prediction_over(const Variant& candidate, const Variant& incumbent);

}  // namespace apo
