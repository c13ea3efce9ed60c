// harness/loop/fleet/agreement.h - an acceptance that has to be found on several devices of one model.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

struct DeviceVerdict {
  std::string device;
  Judgement judgement;
};

// Leaves an experiment that was not accepted as it is. An accepted one gets the gate "replication" where `wanted`
// devices accepted it, `first` included; else it is inconclusive: what one device shows and another does not is no
// property of the candidate. The figures stay those of the first: effects of two devices are never mixed.
void demand_agreement(Experiment& experiment, const DeviceVerdict& first, const std::vector<DeviceVerdict>& others,
                      int wanted);

}  // namespace apo
