// harness/loop/experiment.h - a candidate's way: research chose it, implement builds it, evaluate judges it, the
// journal keeps it.
#pragma once

#include <cstdint>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Judges the candidate against the incumbent. An accepted candidate becomes the state's incumbent.
Experiment run_experiment(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration,
                          const Candidate& candidate);

}  // namespace apo
