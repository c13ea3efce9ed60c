// harness/loop/certify.h - a campaign's incumbent head to head against its baseline.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "harness/loop/campaign_progress.h"

namespace apo {

// Measures under cold and warm caches and adds the results to the journal and to `certifications`. Does nothing when
// nothing was accepted since the last certification.
void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state, std::vector<Certification>& certifications);

// Returns the candidate that was accepted last and is not withdrawn, else the baseline. `experiments` are those of a
// campaign.
Configuration standing_incumbent(const std::vector<Experiment>& experiments, const std::set<std::int64_t>& withdrawn,
                                 const Configuration& baseline);

}  // namespace apo
