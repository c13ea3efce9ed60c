// harness/loop/research_inputs.h - what research is given: the profile, the registered variants, what the journal
// holds.
#pragma once

#include "harness/loop/campaign_progress.h"
#include "harness/research/inputs.h"

namespace apo {

// Collects the inputs for iteration `index`; `profile` is the incumbent's on the campaign's first workload.
ResearchInputs research_inputs(const CampaignFrame& frame, const CampaignProgress& state, const Profile& profile,
                               int index);

}  // namespace apo
