// harness/cli/scale/list_workers.cpp - reads a campaign's workers from the journal, as a table and as a document.
#include "harness/cli/scale/list_workers.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/json/values.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct CampaignStatus {
  Campaign campaign;
  std::string run_by;  // "process 4711"; "" for nobody
  double experiments_an_hour = 0;
  std::vector<WorkerRow> workers;
};

CampaignStatus status_of(Journal& journal, std::int64_t id) {
  const auto campaign = journal.campaign(id);
  if (!campaign) {
    throw UserError(fmt::format("there is no campaign {}", id), "'apo report' lists them");
  }
  return {.campaign = *campaign,
          .run_by = journal.who_works_on({.kind = Unfinished::Kind::campaign, .id = id, .campaign = id}).value_or(""),
          .experiments_an_hour = journal.answers_an_hour(id),
          .workers = journal.workers(id)};
}

// The one that was asked for; else those that are being run with workers; else the newest that had some.
std::vector<CampaignStatus> read_status(std::int64_t campaign, const Paths& paths) {
  if (!std::filesystem::exists(paths.journal)) {
    return {};
  }
  Journal journal = Journal::open(paths.journal, Access::read_only);
  if (campaign != 0) {
    return {status_of(journal, campaign)};
  }
  std::vector<CampaignStatus> all;
  const std::vector<std::int64_t> campaigns = journal.campaigns_with_workers();
  for (const std::int64_t id : campaigns) {
    if (CampaignStatus status = status_of(journal, id); !status.run_by.empty()) {
      all.push_back(std::move(status));
    }
  }
  if (all.empty() && !campaigns.empty()) {
    all.push_back(status_of(journal, campaigns.front()));
  }
  return all;
}

// One that its killed driver could not end.
bool is_working(const CampaignStatus& status, const WorkerRow& worker) {
  return !worker.end && !status.run_by.empty();
}

std::string state_of(const CampaignStatus& status, const WorkerRow& worker) {
  if (worker.end) {
    return std::string(to_string(*worker.end));
  }
  return status.run_by.empty() ? "driver_ended" : worker.candidate.empty() ? "idle" : "judging";
}

Json to_document(const CampaignStatus& status, const WorkerRow& worker) {
  const bool judges = is_working(status, worker) && !worker.candidate.empty();
  return {{"number", worker.number},
          {"device", worker.device},
          {"model", worker.model},
          {"machine", worker.machine},
          {"state", state_of(status, worker)},
          {"judging", judges ? Json(worker.candidate) : Json(nullptr)},
          {"since", judges ? Json(worker.busy_since) : Json(nullptr)},
          {"experiments", worker.experiments},
          {"lost", worker.lost},
          {"busy_s", number_or_null(worker.busy_s)},
          {"started_at", worker.started_at},
          {"ended_at", worker.end ? Json(worker.ended_at) : Json(nullptr)},
          {"note", worker.note},
          {"command", worker.command}};
}

Json to_document(const CampaignStatus& status) {
  return {{"campaign", status.campaign.id},
          {"family", status.campaign.policy.family},
          {"workloads", status.campaign.policy.workloads},
          {"run_by", status.run_by.empty() ? Json(nullptr) : Json(status.run_by)},
          {"experiments_an_hour", number_or_null(status.experiments_an_hour)},
          {"workers", list_of(status.workers, [&](const WorkerRow& one) { return to_document(status, one); })}};
}

std::string text_of(const CampaignStatus& status) {
  const Policy& policy = status.campaign.policy;
  std::string text =
      fmt::format("campaign {}: {} on {}, {}: {} experiments an hour\n", status.campaign.id, policy.family,
                  join(policy.workloads, ", "), status.run_by.empty() ? "not running" : "run by " + status.run_by,
                  format_g(status.experiments_an_hour, 3));
  std::vector<std::vector<std::string>> rows = {
      {"worker", "device", "state", "judging", "experiments", "lost", "busy", "note"}};
  for (const WorkerRow& worker : status.workers) {
    rows.push_back({std::to_string(worker.number), worker.device, state_of(status, worker),
                    is_working(status, worker) ? worker.candidate : "", std::to_string(worker.experiments),
                    std::to_string(worker.lost), format_seconds(worker.busy_s), one_line(worker.note)});
  }
  return text + format_table(rows);
}

void print_status(const std::vector<CampaignStatus>& all, const Globals& globals) {
  std::string text;
  for (const CampaignStatus& one : all) {
    text += text_of(one);
  }
  print_answer(globals, {{"campaigns", list_of(all, [](const CampaignStatus& one) { return to_document(one); })}},
               text.empty() ? "no campaign has had workers: 'apo run --workers local:all' starts some\n" : text);
}

}  // namespace

int list_workers(std::int64_t campaign, const Globals& globals) {
  print_status(read_status(campaign, make_paths(globals.journal)), globals);
  return kDone;
}

}  // namespace apo
