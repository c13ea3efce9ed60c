// reports/load.cpp - reads all rows that the report of a campaign needs.
#include "reports/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "journal/facts/applications.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/research/lessons.h"
#include "journal/facts/research/proposals.h"
#include "journal/facts/variants.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"

namespace apo::report {
namespace {

std::vector<IterationRecord> load_iterations(Journal& journal, std::int64_t campaign) {
  std::vector<IterationRecord> records;
  for (const IterationRow& row : iterations_of(journal, campaign)) {
    records.push_back({.id = row.id,
                       .index = row.index,
                       .started_at = row.started_at,
                       .incumbent = row.incumbent,
                       .profiles = profiles_of_iteration(journal, row.id),
                       .brief = load_brief(journal, row.id)});
  }
  return records;
}

// Diffs accepted experiments whose two sources are in the journal.
std::map<std::int64_t, std::string> diff_sources(Journal& journal, const std::vector<Experiment>& experiments) {
  std::map<std::int64_t, std::string> diffs;
  for (const Experiment& experiment : experiments) {
    if (!experiment.judgement || experiment.judgement->verdict != Verdict::accepted) {
      continue;
    }
    const std::optional<Variant> before = find_variant(journal, experiment.incumbent_source_hash);
    const std::optional<Variant> after = find_variant(journal, experiment.candidate_source_hash);
    if (before && after) {
      diffs[experiment.id] = unified_diff(all_sources(*before), all_sources(*after));
    }
  }
  return diffs;
}

// The campaign's own, then those on its machine that were asked for alone.
std::vector<ProgramComparison> comparisons_of(Journal& journal, const Campaign& campaign) {
  std::vector<ProgramComparison> all = all_comparisons(journal, Detail::rounds);
  std::erase_if(all, [&](const ProgramComparison& one) {
    return one.campaign != campaign.id && (one.campaign != 0 || one.machine != campaign.machine);
  });
  std::stable_partition(all.begin(), all.end(), [](const ProgramComparison& one) { return one.campaign != 0; });
  return all;
}

std::string known_campaigns(Journal& journal) {
  std::vector<std::string> names;
  for (const Campaign& campaign : all_campaigns(journal)) {
    names.push_back(fmt::format("{} ({} {})", campaign.id, campaign.policy.family, campaign.policy.workload_class));
  }
  return names.empty() ? "it has none; 'apo run' makes one" : "it has " + join(names, ", ");
}

// Devices of the experiments that workers judged.
std::map<std::int64_t, std::string> judged_on(Journal& journal, const std::vector<Experiment>& experiments) {
  std::map<std::int64_t, std::string> devices;
  for (const Experiment& experiment : experiments) {
    if (const auto worker = worker_of(journal, experiment.id)) {
      devices[experiment.id] = worker->device;
    }
  }
  return devices;
}

}  // namespace

ReportModel load_model(Journal& journal, std::int64_t campaign) {
  const std::optional<Campaign> found = find_campaign(journal, campaign);
  if (!found) {
    throw UserError(fmt::format("the journal {} has no campaign {}", journal.path().string(), campaign),
                    known_campaigns(journal));
  }
  CampaignRecords records{.campaign = *found};
  records.iterations = load_iterations(journal, campaign);
  records.experiments = experiments_of(journal, campaign, Detail::rounds);
  records.lessons = lessons_of(journal, {.campaign = campaign});
  records.certifications = certifications_of(journal, campaign);
  records.withdrawn = withdrawn_accepts(journal, campaign);
  records.sentinels = sentinels_of(journal, campaign);
  records.applications = applications_of(journal, campaign);
  records.comparisons = comparisons_of(journal, *found);
  records.proposer_calls = proposer_calls_of(journal, campaign);
  records.workers = workers_of(journal, campaign);
  records.judged_on = judged_on(journal, records.experiments);
  records.diffs = diff_sources(journal, records.experiments);
  // The machine in the state that it was in; without an experiment, or where workers judged, in its newest.
  std::optional<Machine> machine = records.experiments.empty() || !records.workers.empty()
                                       ? std::nullopt
                                       : machine_of(journal, records.experiments.front().id);
  machine = machine ? machine : find_machine(journal, found->machine);
  records.machine = machine.value_or(Machine{});
  return build_model(std::move(records));
}

std::int64_t newest_campaign(Journal& journal) {
  std::int64_t newest = 0;
  std::int64_t newest_run = 0;
  for (const Campaign& campaign : all_campaigns(journal)) {
    newest = std::max(newest, campaign.id);
    newest_run = std::max(newest_run, campaign.policy.iterations == kNamedCandidates ? 0 : campaign.id);
  }
  if (newest == 0) {
    throw UserError("the journal " + journal.path().string() + " has no campaign to report on",
                    "'apo run' makes one; what other commands wrote, 'apo query' lists and 'apo show' shows\n"
                    "'apo report --commands' writes what was found of pairs of commands");
  }
  return newest_run != 0 ? newest_run : newest;
}

}  // namespace apo::report
