// harness/loop/fleet/campaign_fleet.cpp - a row when a worker joins, and one when it leaves.
#include "harness/loop/fleet/campaign_fleet.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {

CampaignFleet::CampaignFleet(const FleetRequest& request, const Machine& model, Journal& journal, Observer& observer,
                             std::int64_t campaign)
    : journal_(journal),
      observer_(observer),
      campaign_(campaign),
      replicate_(request.replicate),
      rows_(request.options.commands.size()),
      why_left_(request.options.commands.size()),
      workers_(request.options, model) {
  observer_.say(fmt::format("starting {} worker{}", workers_.size(), workers_.size() == 1 ? "" : "s"));
}

std::string CampaignFleet::name(std::size_t worker) const {
  const Hello* hello = workers_.hello(worker);
  return hello == nullptr ? fmt::format("worker {}", worker + 1)
                          : fmt::format("worker {} ({})", worker + 1, hello->device);
}

std::int64_t CampaignFleet::add_row(std::size_t worker) {
  WorkerRow row{.campaign = campaign_, .number = static_cast<int>(worker) + 1, .command = workers_.command(worker)};
  if (const Hello* hello = workers_.hello(worker)) {
    journal_.add_machine(hello->machine);
    row.machine = hello->machine.id;
    row.device = hello->device;
  }
  return journal_.add_worker(row);
}

std::optional<FleetEvent> CampaignFleet::next(std::chrono::milliseconds longest) {
  std::optional<FleetEvent> event = workers_.next(longest);
  if (event) {
    keep(*event);
  }
  return event;
}

FleetEvent CampaignFleet::refuse(std::size_t worker, const std::string& note) {
  FleetEvent event = workers_.give_up(worker, WorkerEnd::bad_answer, note);
  keep(event);
  return event;
}

void CampaignFleet::keep(const FleetEvent& event) {
  std::int64_t& row = rows_[event.worker];
  if (event.kind == FleetEvent::Kind::joined) {
    row = add_row(event.worker);
    observer_.say(name(event.worker) + " has joined");
  } else if (event.kind == FleetEvent::Kind::left) {
    row = row == 0 ? add_row(event.worker) : row;
    journal_.end_worker(row, event.why, event.note);
    row = 0;
    why_left_[event.worker] = fmt::format("worker {}: {}: {}", event.worker + 1, to_string(event.why), event.note);
    observer_.say(
        fmt::format("{}{}", why_left_[event.worker], workers_.is_out(event.worker) ? "" : "; it is started again"));
  }
}

void CampaignFleet::check_any_left() const {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_.is_out(i)) {
      return;
    }
  }
  throw EnvironmentError("no worker is left: " + join(why_left_, "; "),
                         "the same command goes on with the campaign once they can work");
}

void CampaignFleet::dismiss() {
  workers_.end();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i] != 0) {
      journal_.end_worker(rows_[i], WorkerEnd::dismissed, "");
      rows_[i] = 0;
    }
  }
}

}  // namespace apo
