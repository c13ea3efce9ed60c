// harness/loop/trial/trial.h - a campaign over variants that somebody names, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

// How to judge, as a command line chooses it; empty members mean the defaults.
struct TrialChoice {
  std::string family;
  std::vector<std::string> workloads;  // default: the first for the target
  std::string cache;
  std::string judge;  // a preset, or "quick"
};

// The policy of a trial; --judge quick is for its candidates, and not for what certifies the result. UserError for a
// word or a workload that is none.
Policy trial_policy(const Workspace& workspace, const TrialChoice& choice, Target target);

struct TrialSummary {
  std::int64_t campaign = 0;
  Configuration incumbent;  // at the end
  std::vector<Certification> certifications;
};

// Judges each variant against the incumbent of this machine, else against the family's baseline; an accepted one is the
// incumbent from then on. The journal gets the rows of a campaign with one candidate an iteration. One that is not
// finished is marked as abandoned by the next command.
class Trial {
 public:
  // Judges on the workspace's target, which must not change meanwhile. `policy` needs no iterations.
  Trial(Workspace& workspace, const Policy& policy, Observer& observer);

  const Policy& policy() const { return frame_.policy; }
  const Runtime& runtime() const { return frame_.runtime; }
  Journal& journal() { return journal_; }
  const Configuration& incumbent() const { return state_.incumbent; }
  // True for a variant that others are judged against: the incumbent, or the baseline that certifies it.
  bool relies_on(const std::string& variant) const;
  // Returns the shortest possible time of a call of the first workload; 0 when it is not known.
  double floor_ns() const;

  // Judges a configuration of the workspace's catalogue that is not the incumbent. `judge` names a preset in place of
  // the policy's. Throws EnvironmentError when this machine cannot judge.
  Experiment judge(const Configuration& configuration, const std::string& judge = "");
  // Certifies what was accepted, and ends the campaign.
  TrialSummary finish();

 private:
  Journal journal_;
  CampaignFrame frame_;
  CampaignProgress state_;
  int iterations_ = 0;
};

// Returns the author's prediction when it is about this incumbent, else none.
Prediction prediction_over(const Variant& candidate, const Variant& incumbent);

}  // namespace apo
