// harness/fleet/device_answers.h - what a device found of one candidate, as one experiment of the journal.
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

// Stores all that one candidate leaves behind in one transaction, so that it counts once or not at all: the planned
// experiment as the device judged it. Returns it with its number.
Experiment store_answer(const CampaignFrame& frame, const Experiment& planned, const DeviceAnswer& answer);
// The same for a candidate that ended its workers: it has failed at the gate "workers".
Experiment store_failure(const CampaignFrame& frame, Experiment planned, Outcome outcome, const std::string& evidence);

}  // namespace apo
