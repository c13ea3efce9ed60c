// harness/cli/improve/run_list.h - `apo run A.json B.json`: campaigns that share workers, or follow one another.
#pragma once

#include <vector>

#include "harness/cli/command.h"
#include "harness/core/observer.h"
#include "harness/loop/fleet/campaign_list.h"

namespace apo {

struct ListRequest {
  std::vector<ListedCampaign> campaigns;
  WorkerCommands workers;
  Target target = Target::host;  // of the workers
  int replicate = 1;
  bool begin_anew = false;
};

// Prints each campaign when it has ended, and which have not. Returns an ExitCode.
int run_list(const ListRequest& request, const Globals& globals, Observer& observer);

}  // namespace apo
