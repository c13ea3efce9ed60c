// harness/loop/fleet/task_judge.cpp - a campaign of this process for each campaign of a driver.
#include "harness/loop/fleet/task_judge.h"

#include <algorithm>

#include "harness/core/error.h"
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
  CampaignFrame frame;
  CampaignProgress state;
  int iterations = 0;
};

TaskJudge::TaskJudge(Workspace& workspace, Observer& observer)
    : workspace_(workspace),
      observer_(observer),
      journal_(Journal::open(workspace.paths().journal, Access::read_write)) {
  journal_.add_machine(workspace_.machine());
}

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

TaskJudge::Running& TaskJudge::running_for(const Task& task) {
  if (running_ == nullptr || !is_same_campaign(running_->task, task)) {
    Campaign campaign{.policy = task.policy,
                      .baseline = task.incumbent.configuration,
                      .machine = workspace_.machine().id,
                      .started_at = utc_now()};
    journal_.add_variant(workspace_.catalogue().get(campaign.baseline.variant));
    campaign.id = journal_.begin_campaign(campaign);
    CampaignFrame frame = make_frame(workspace_, journal_, observer_, campaign, false);
    CampaignProgress state = make_state(frame);
    running_ = std::make_shared<Running>(Running{.task = task, .frame = std::move(frame), .state = std::move(state)});
  }
  running_->frame.given_floor = task.floor;
  return *running_;
}

JudgedTask TaskJudge::judge(const Task& task) {
  for (const TaskSide& side : {task.incumbent, task.candidate}) {
    check_headers_of_others(workspace_.catalogue().get(side.configuration.variant));
  }
  Running& running = running_for(task);
  CampaignProgress& state = running.state;
  state.incumbent = task.incumbent.configuration;
  state.timed_candidates = task.index - 1;
  if (state.since_sentinel >= kSentinelEveryCandidates) {
    state.machine_checked = false;
  }
  const std::int64_t iteration = journal_.begin_iteration({.campaign = running.frame.campaign,
                                                           .index = ++running.iterations,
                                                           .incumbent = state.incumbent,
                                                           .started_at = utc_now()});
  const Variant& variant = workspace_.catalogue().get(task.candidate.configuration.variant);
  const Experiment experiment =
      run_experiment(running.frame, state, iteration,
                     {.configuration = task.candidate.configuration,
                      .techniques = techniques_of(variant, task.candidate.configuration.settings),
                      .prediction = task.prediction,
                      .why = "a driver asked"});
  journal_.finish_iteration(iteration);
  return collect(experiment);
}

JudgedTask TaskJudge::collect(const Experiment& experiment) {
  const Catalogue& catalogue = workspace_.catalogue();
  JudgedTask judged{.machine = workspace_.machine(),
                    .roofs = known_roofs(journal_, workspace_.machine()),
                    .sentinels = {},
                    .sources = {catalogue.get(experiment.candidate.variant)},
                    .experiment = experiment};
  if (experiment.incumbent.variant != experiment.candidate.variant) {
    judged.sources.push_back(catalogue.get(experiment.incumbent.variant));
  }
  for (const SentinelRow& row : journal_.sentinels(running_->frame.campaign)) {
    if (row.id > last_sentinel_) {
      judged.sentinels.push_back({.row = row, .rounds = journal_.sentinel_rounds(row.id)});
    }
  }
  last_sentinel_ = judged.sentinels.empty() ? last_sentinel_ : judged.sentinels.back().row.id;
  return judged;
}

}  // namespace apo
