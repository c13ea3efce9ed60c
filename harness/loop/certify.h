// harness/loop/certify.h - a campaign's incumbent head to head against its baseline.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Under cold and warm caches, in the journal and in `certifications`; nothing when nothing was accepted since the last.
void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state, std::vector<Certification>& certifications);

// The candidate that was accepted last and is not withdrawn, else the baseline. `experiments` are those of a campaign.
Configuration standing_incumbent(const std::vector<Experiment>& experiments, const std::set<std::int64_t>& withdrawn,
                                 const Configuration& baseline);

}  // namespace apo
