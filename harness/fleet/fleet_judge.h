// harness/fleet/fleet_judge.h - judges a campaign's candidates on workers, as many at once as there are devices.
#pragma once

#include "harness/fleet/fleet.h"
#include "harness/loop/satellites.h"

namespace apo {

// Starts the workers. An acceptance needs `replicate` devices that agree. The frame outlives what is returned.
std::unique_ptr<RemoteJudge> start_fleet(const FleetOptions& options, int replicate, const CampaignFrame& frame);

}  // namespace apo
