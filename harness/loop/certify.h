// harness/loop/certify.h - a campaign's incumbent head to head against its baseline.
#pragma once

#include <vector>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Under cold and warm caches, in the journal and in `certifications`; nothing when nothing was accepted since the last.
void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state, std::vector<Certification>& certifications);

}  // namespace apo
