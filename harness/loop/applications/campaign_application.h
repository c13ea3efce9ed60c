// harness/loop/applications/campaign_application.h - the last gate of a campaign: its incumbent against its baseline in
// the declared application.
#pragma once

#include <optional>

#include "harness/core/applications/application_comparison.h"
#include "harness/loop/campaign_progress.h"

namespace apo {

struct CampaignApplication {
  std::optional<ApplicationComparison> comparison;
  std::string missing;  // why there is none, although one was declared and the incumbent is not the baseline
};

// Exports two dispatches to the campaign's report folder, which differ in nothing but the campaign's family and class,
// and judges them. Does nothing where no application is declared, and where the baseline is still the incumbent.
CampaignApplication judge_campaign_by_application(const CampaignFrame& frame, const Configuration& incumbent);

}  // namespace apo
