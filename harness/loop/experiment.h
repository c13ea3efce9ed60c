// harness/loop/experiment.h - a candidate's way: research chose it, implement builds it, evaluate judges it, the
// journal keeps it.
#pragma once

#include <cstdint>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Judges the candidate against the incumbent. An accepted candidate becomes the state's incumbent. A machine that was
// not checked yet is checked before the first timing; one that cannot judge makes the verdict inconclusive.
Experiment run_experiment(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                          const Candidate& candidate);

}  // namespace apo
