// harness/loop/campaign_checks.h - what a campaign trusts: the A/A sentinel of its machine, the certified result.
#pragma once

#include <vector>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Measures under cold and warm caches and adds the results to the journal and to `certifications`. Does nothing when
// nothing was accepted since the last certification. After an alarm the incumbent is the one that stands.
void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state, std::vector<Certification>& certifications);

// Compares identical code and stores the result in the journal. Chooses the judge's preset under "auto", and sets the
// detectable effect of the state. Throws EnvironmentError when identical code differs.
void check_machine(const CampaignFrame& frame, CampaignProgress& state);

}  // namespace apo
