// harness/fleet/device_answers.h - what devices found of one candidate, as one experiment of the journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/fleet/answer_journal.h"
#include "harness/loop/campaign_progress.h"

namespace apo {

struct DeviceAnswer {
  std::int64_t placement = 0;
  std::string device;
  std::string started_at;
  double seconds = 0;
  JudgedTask judged;
};

// Leaves an experiment that was not accepted as it is. An accepted one gets the gate "replication" where `wanted`
// devices accepted it, the first included; else it is inconclusive: what one device shows and another does not is no
// property of the candidate. The figures stay those of the first: effects of two devices are never mixed.
void demand_agreement(Experiment& experiment, const std::vector<DeviceAnswer>& answers, int wanted);

// Stores all that one candidate leaves behind in one transaction, so that it counts once or not at all: the planned
// experiment as the first device judged it, the other answers as its replays. Returns it with its number.
Experiment store_answers(const CampaignFrame& frame, const Experiment& planned,
                         const std::vector<DeviceAnswer>& answers, int replicate);
// The same for a candidate that ended its workers: it has failed at the gate "workers".
Experiment store_failure(const CampaignFrame& frame, Experiment planned, Outcome outcome, const std::string& evidence);

}  // namespace apo
