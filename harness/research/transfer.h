// harness/research/transfer.h - how well judgements on one workload foretell the effects on another one of its class.
#pragma once

#include <string>
#include <vector>

#include "harness/research/foresight.h"

namespace apo {

// Effects on `to` of configurations that judgements on `from` compare, too: directly or over others. Errors are mean
// distances from the effect, in logs.
struct Transfer {
  std::string from;
  std::string to;
  int effects = 0;
  double taken_error = 0;  // of the effect on `from`, taken as it is
  double error = 0;        // of this program's estimate, which knows no judgements but those on `from`
};

// Of each pair of workloads that has such effects, by name.
std::vector<Transfer> score_transfers(const std::vector<RecordedCampaign>& campaigns);

}  // namespace apo
