// harness/loop/machine_check.h - the A/A sentinel of a campaign: whether this machine can judge, and how finely.
#pragma once

#include "harness/loop/campaign_progress.h"

namespace apo {

// Compares identical code and stores the result in the journal. Chooses the judge's preset under "auto", and sets the
// detectable effect of the state. Throws EnvironmentError when identical code differs.
void check_machine(const CampaignFrame& frame, CampaignProgress& state);

}  // namespace apo
