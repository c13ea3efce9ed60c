// harness/loop/fleet/campaign_list.h - several campaigns at once, each a process of its own with some of the workers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/fleet/list_progress.h"
#include "harness/loop/fleet/worker_commands.h"

namespace apo {

struct ListedCampaign {
  std::string file;  // as typed
  // Of campaigns that share an incumbent. They run one after the other: one that is open goes on with the next of them.
  std::string key;
};

// What became of a campaign.
struct ListedEnd {
  std::optional<int> exit_code;  // of its process; nullopt: it was not begun, or a signal ended it
  std::string output;            // its stdout
  std::string why;               // what it said of its failure, or why it has no exit code
  bool before = false;           // it had ended when the list was begun
};

struct CampaignList {
  std::vector<ListedCampaign> campaigns;
  WorkerCommands workers;          // none: the campaigns run one after the other and judge by themselves
  std::size_t fewest_workers = 1;  // of a campaign
  // The command line of a campaign's process, which these workers judge for.
  std::function<std::vector<std::string>(const std::string& file, const std::vector<std::string>& workers)> words;
  std::function<bool(int exit_code)> has_ended;  // else the same list goes on with it
  std::function<void(const ListedCampaign& campaign, const ListedEnd& end)> on_end;
};

// Runs the campaigns that have not ended before, and says each line of their progress. A campaign keeps the workers
// that it began with; they go to the next one then. One that fails ends no other.
void run_campaign_list(const CampaignList& list, ListProgress& progress, Observer& observer);

// How many of the workers that are free the next campaign gets when so many could begin; 0: it waits for more.
std::size_t share_of_workers(std::size_t free, std::size_t waiting, std::size_t fewest);

}  // namespace apo
