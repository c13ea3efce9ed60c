// harness/loop/experiment.h - a candidate's way: research chose it, implement builds it, evaluate judges it, the
// journal keeps it.
#pragma once

#include <cstdint>
#include <string>

#include "harness/evaluate/plan.h"
#include "harness/loop/campaign_progress.h"

namespace apo {

// Judges the candidate against the incumbent. An accepted candidate becomes the state's incumbent. `judge`, a preset's
// word, judges this candidate otherwise than the campaign. A machine that was not checked yet is checked before the
// first timing that decides. Throws EnvironmentError when it cannot judge: the experiment is then abandoned.
Experiment run_experiment(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                          const Candidate& candidate, const std::string& judge = "");

// The same in steps, for a candidate that is judged elsewhere. Its record before it is judged, which has no id yet:
Experiment planned_experiment(const CampaignFrame& frame, const Configuration& incumbent, std::int64_t iteration,
                              const Candidate& candidate, int index);
// The last step: stores the verdict of an experiment that was begun, with its lesson.
void keep_verdict(const CampaignFrame& frame, const Experiment& experiment);

}  // namespace apo
