// harness/loop/machine_check.h - the A/A sentinel of a campaign: whether this machine can judge, and how finely.
#pragma once

#include "harness/loop/campaign_progress.h"

namespace apo {

// Identical code against itself, in the journal. Chooses the judge's preset under "auto", and what the state can
// detect. Throws EnvironmentError when identical code differs.
void check_machine(const CampaignFrame& frame, CampaignProgress& state);

}  // namespace apo
