// harness/loop/certify.h - a campaign's incumbent head to head against its baseline.
#pragma once

#include <vector>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Measures under cold and warm caches and adds the results to the journal and to `certifications`. Does nothing when
// nothing was accepted since the last certification. After an alarm the incumbent is the one that stands.
void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state, std::vector<Certification>& certifications);

}  // namespace apo
