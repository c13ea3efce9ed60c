// harness/cli/improve/run_text.h - prints the end of a campaign.
#pragma once

#include <string>

#include "harness/loop/campaign.h"

namespace apo {

std::string summary_text(const CampaignSummary& summary);

}  // namespace apo
