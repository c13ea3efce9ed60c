// harness/applications/campaign_application.h - the last gate of a campaign: its incumbent against its baseline in
// the declared application.
#pragma once

#include "harness/loop/satellites.h"

namespace apo {

// Exports two dispatches to the campaign's report folder, which differ in nothing but the campaign's family and class,
// and judges them. Does nothing where no application is declared, and where the baseline is still the incumbent.
CampaignApplication judge_campaign_by_application(const CampaignFrame& frame, const Configuration& incumbent);

}  // namespace apo
