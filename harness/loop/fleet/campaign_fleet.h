// harness/loop/fleet/campaign_fleet.h - the workers of a campaign, and their rows in its journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/fleet/fleet.h"
#include "journal/journal.h"

namespace apo {

struct FleetRequest {
  FleetOptions options;  // without commands: the campaign is judged by this process
  int replicate = 1;     // devices that have to accept a candidate
};

class CampaignFleet {
 public:
  CampaignFleet(const FleetRequest& request, const Machine& model, Journal& journal, Observer& observer,
                std::int64_t campaign);

  Fleet& workers() { return workers_; }
  int replicate() const { return replicate_; }
  std::int64_t row(std::size_t worker) const { return rows_[worker]; }
  // "worker 2 (GPU-...)".
  std::string name(std::size_t worker) const;

  // What happens next to a worker; its row is written. nullopt: nothing in that time.
  std::optional<FleetEvent> next(std::chrono::milliseconds longest);
  // Ends a worker for an answer that cannot be used. Returns the event.
  FleetEvent refuse(std::size_t worker, const std::string& note);
  // Throws EnvironmentError with the reason of each worker when none is left.
  void check_any_left() const;
  // Ends all workers: their devices are free then.
  void dismiss();

 private:
  std::int64_t add_row(std::size_t worker);
  void keep(const FleetEvent& event);
  Journal& journal_;
  Observer& observer_;
  std::int64_t campaign_;
  int replicate_;
  std::vector<std::int64_t> rows_;     // of the journal; 0: it has none now
  std::vector<std::string> why_left_;  // of each, the last time
  Fleet workers_;
};

}  // namespace apo
