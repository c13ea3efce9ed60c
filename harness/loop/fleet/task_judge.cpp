// harness/loop/fleet/task_judge.cpp - a campaign of this process for each campaign of a driver.
#include "harness/loop/fleet/task_judge.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/families/known_families.h"
#include "harness/implement/variant/include_folders.h"
#include "harness/loop/experiment.h"
#include "harness/loop/workspace/known_roofs.h"

namespace apo {
namespace {

bool is_same_campaign(const Task& a, const Task& b) {
  return a.campaign == b.campaign && to_message(a).at("policy") == to_message(b).at("policy");
}

// The candidate's failure to build would be held against it.
void check_headers_of_others(const Variant& variant) {
  if (const std::string missing = include_folders(variant).missing; !missing.empty()) {
    throw EnvironmentError(variant.id() + " cannot be built here: " + missing);
  }
}

}  // namespace

struct TaskJudge::Running {
  Task task;  // the first
  TemporaryFolder folder{"apo-judged"};
  Journal journal = Journal::open(folder.path() / "journal.db", Access::temporary);
  std::optional<CampaignFrame> frame;  // of that journal
  std::optional<CampaignProgress> state;
  int iterations = 0;
};

TaskJudge::TaskJudge(Workspace& workspace, Observer& observer) : workspace_(workspace), observer_(observer) {}

bool TaskJudge::has(const TaskSide& side) const {
  const Variant* known = workspace_.catalogue().find(side.configuration.variant);
  return known != nullptr && known->source_hash == side.source_hash;
}

Need TaskJudge::lacking(const Task& task) const {
  Need need;
  for (const TaskSide& side : {task.incumbent, task.candidate}) {
    if (!has(side)) {
      need.sources.push_back(side.source_hash);
    }
  }
  if (find_family(task.policy.family) == nullptr) {
    need.family = task.policy.family;
  }
  return need;
}

void TaskJudge::take_source(Variant variant) {
  // What it was derived from need not come along: no step of a judgement asks for it.
  if (workspace_.catalogue().find(variant.parent) == nullptr) {
    variant.parent.clear();
  }
  workspace_.catalogue().add(std::move(variant));
}

void TaskJudge::take_family(const std::string& name, const std::vector<SourceFile>& files) {
  const std::filesystem::path folder = workspace_.paths().families / name;
  for (const SourceFile& file : files) {
    if (!lies_in((folder / file.name).lexically_normal(), folder)) {
      throw UserError("the family " + name + " has a file outside of its folder: " + file.name);
    }
    write_file_atomically(folder / file.name, file.text);
  }
  add_family_file((folder / files.at(0).name).string(), oracle_options(workspace_.paths()));
}

// What the sentinel of the new journal starts from: it looks at all that were run for the campaign.
void TaskJudge::carry_over(Running& old, Running& next) {
  std::int64_t sent = 0;
  for (SentinelRow row : old.journal.sentinels(old.frame->campaign)) {
    const std::vector<Round> rounds = old.journal.sentinel_rounds(row.id);
    const bool was_sent = row.id <= last_sentinel_;
    row.campaign = next.frame->campaign;
    const std::int64_t id = next.journal.add_sentinel(row, rounds);
    sent = was_sent ? id : sent;
  }
  last_sentinel_ = sent;
  next.state->sentinels = old.state->sentinels;
}

std::shared_ptr<TaskJudge::Running> TaskJudge::begin(const Task& task) {
  auto next = std::make_shared<Running>();
  next->task = task;
  Campaign campaign{.policy = task.policy,
                    .baseline = task.incumbent.configuration,
                    .machine = workspace_.machine().id,
                    .started_at = utc_now()};
  next->journal.add_machine(workspace_.machine());
  next->journal.add_variant(workspace_.catalogue().get(campaign.baseline.variant));
  campaign.id = next->journal.begin_campaign(campaign);
  if (running_ != nullptr) {
    next->journal.add_roofs(workspace_.machine().id, known_roofs(running_->journal, workspace_.machine()));
  }
  next->frame.emplace(make_frame(workspace_, next->journal, observer_, campaign, false));
  next->state.emplace(make_state(*next->frame));
  return next;
}

// A new journal for each campaign, and with each sentinel that is due: what a worker keeps does not grow with its
// tasks.
TaskJudge::Running& TaskJudge::running_for(const Task& task) {
  const bool same = running_ != nullptr && is_same_campaign(running_->task, task);
  if (!same || running_->state->since_sentinel >= kSentinelEveryCandidates) {
    const std::shared_ptr<Running> next = begin(task);
    if (same) {
      carry_over(*running_, *next);
    } else {
      last_sentinel_ = 0;
    }
    running_ = next;
  }
  running_->frame->given_floor = task.floor;
  return *running_;
}

JudgedTask TaskJudge::judge(const Task& task) {
  for (const TaskSide& side : {task.incumbent, task.candidate}) {
    check_headers_of_others(workspace_.catalogue().get(side.configuration.variant));
  }
  Running& running = running_for(task);
  CampaignProgress& state = *running.state;
  state.incumbent = task.incumbent.configuration;
  state.timed_candidates = task.index - 1;
  const std::int64_t iteration = running.journal.begin_iteration({.campaign = running.frame->campaign,
                                                                  .index = ++running.iterations,
                                                                  .incumbent = state.incumbent,
                                                                  .started_at = utc_now()});
  const Variant& variant = workspace_.catalogue().get(task.candidate.configuration.variant);
  const Experiment experiment =
      run_experiment(*running.frame, state, iteration,
                     {.configuration = task.candidate.configuration,
                      .techniques = techniques_of(variant, task.candidate.configuration.settings),
                      .prediction = task.prediction,
                      .why = "a driver asked"});
  running.journal.finish_iteration(iteration);
  return collect(experiment);
}

JudgedTask TaskJudge::collect(const Experiment& experiment) {
  const Catalogue& catalogue = workspace_.catalogue();
  Journal& journal = running_->journal;
  JudgedTask judged{.machine = workspace_.machine(),
                    .roofs = known_roofs(journal, workspace_.machine()),
                    .sentinels = {},
                    .sources = {catalogue.get(experiment.candidate.variant)},
                    .experiment = experiment};
  if (experiment.incumbent.variant != experiment.candidate.variant) {
    judged.sources.push_back(catalogue.get(experiment.incumbent.variant));
  }
  for (const SentinelRow& row : journal.sentinels(running_->frame->campaign)) {
    if (row.id > last_sentinel_) {
      judged.sentinels.push_back({.row = row, .rounds = journal.sentinel_rounds(row.id)});
    }
  }
  last_sentinel_ = judged.sentinels.empty() ? last_sentinel_ : judged.sentinels.back().row.id;
  return judged;
}

}  // namespace apo
