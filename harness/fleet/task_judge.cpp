// harness/fleet/task_judge.cpp - runs tasks as experiments of a campaign of this process.
#include "harness/fleet/task_judge.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/families/known_families.h"
#include "harness/implement/variant/headers.h"
#include "harness/loop/experiment.h"
#include "harness/loop/scan/own_bench.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/machines.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"
#include "kernels/random.h"

namespace apo {
namespace {

// The candidate's failure to build would be held against it.
void check_headers_of_others(const Variant& variant) {
  if (const std::string missing = include_folders(variant).missing; !missing.empty()) {
    throw EnvironmentError(variant.id() + " cannot be built here: " + missing);
  }
}

}  // namespace

struct TaskJudge::OwnCampaign {
  std::int64_t of_driver = 0;
  TemporaryFolder folder{"apo-judged"};
  Journal journal = Journal::open(folder.path() / "journal.db", Access::temporary);
  std::optional<CampaignFrame> frame;  // of that journal
  std::optional<CampaignProgress> state;
  std::optional<OwnBench> bench;  // from the first scan on
  int iterations = 0;
};

TaskJudge::TaskJudge(Workspace& workspace, Observer& observer) : workspace_(workspace), observer_(observer) {}

// The family first: a source is read with its contract.
void TaskJudge::take_sources(const Policy& policy, const std::vector<TaskSide>& sides, const Message& message) {
  if (find_family(policy.family) == nullptr) {
    take_family(policy.family, files_of(message.at("family_files")));
  }
  Catalogue& catalogue = workspace_.catalogue();
  for (const Message& source : message.value("sources", Message::array())) {
    if (catalogue.with_text(source.at("hash").get<std::string>()) == nullptr) {
      Variant variant = variant_of(source);
      // What it was derived from need not come along: no step of a judgement asks for it.
      if (catalogue.find(variant.parent) == nullptr) {
        variant.parent.clear();
      }
      catalogue.add(std::move(variant));
    }
  }
  for (const TaskSide& side : sides) {
    if (catalogue.get(side.configuration.variant).source_hash != side.source_hash) {
      throw UserError("the source of " + side.configuration.variant + " is not the one that its hash names");
    }
  }
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

TaskJudge::OwnCampaign& TaskJudge::campaign_of(std::int64_t of_driver, const Policy& policy,
                                               const Configuration& incumbent) {
  if (own_ == nullptr) {
    const auto own = std::make_shared<OwnCampaign>();
    own->of_driver = of_driver;
    Campaign campaign{
        .policy = policy, .baseline = incumbent, .machine = workspace_.machine().id, .started_at = utc_now()};
    add_machine(own->journal, workspace_.machine());
    add_variant(own->journal, workspace_.catalogue().get(campaign.baseline.variant));
    campaign.id = begin_campaign(own->journal, campaign);
    own->frame.emplace(make_frame(workspace_, own->journal, observer_, campaign, false));
    own->state.emplace(make_state(*own->frame));
    own_ = own;
  }
  if (own_->of_driver != of_driver) {
    throw UserError("the driver has changed its campaign");
  }
  return *own_;
}

JudgedTask TaskJudge::judge(const Task& task) {
  for (const TaskSide& side : {task.incumbent, task.candidate}) {
    check_headers_of_others(workspace_.catalogue().get(side.configuration.variant));
  }
  OwnCampaign& own = campaign_of(task.campaign, task.policy, task.incumbent.configuration);
  own.frame->given_floor = task.floor;
  CampaignProgress& state = *own.state;
  if (state.since_sentinel >= kSentinelEveryCandidates) {
    state.machine_checked = false;  // the next timing begins with a sentinel
  }
  state.incumbent = task.incumbent.configuration;
  state.timed_candidates = task.index - 1;
  state.plan.index = task.judged + 1;
  const std::int64_t iteration = begin_iteration(own.journal, {.campaign = own.frame->campaign,
                                                               .index = ++own.iterations,
                                                               .incumbent = state.incumbent,
                                                               .started_at = utc_now()});
  const Variant& variant = workspace_.catalogue().get(task.candidate.configuration.variant);
  const Experiment experiment =
      run_experiment(*own.frame, state, iteration,
                     {.configuration = task.candidate.configuration,
                      .techniques = techniques_of(variant, task.candidate.configuration.settings),
                      .prediction = task.prediction,
                      .why = "a driver asked"});
  finish_iteration(own.journal, iteration);
  return collect(experiment);
}

void TaskJudge::scan(const ScanTask& task, const std::function<void(const ScanMeasurement&)>& tell) {
  OwnCampaign& own = campaign_of(task.campaign, task.policy, task.reference.configuration);
  const Workload& workload = workspace_.workload(own.frame->family, task.policy.workloads.front());
  if (!own.bench) {
    own.bench.emplace(workspace_, observer_, own.frame->runtime, workload,
                      ScanPlace{.machine = workspace_.machine().id,
                                .family = task.policy.family,
                                .workload = workload.name,
                                .cache = task.policy.cache_policy},
                      derive_seed(task.policy.seed, "scan"));
  }
  const Configuration& reference = task.reference.configuration;
  if (own.frame->runtime.build(reference, workload.axes, false).key != task.reference_key) {
    return;
  }
  const std::unique_ptr<OwnBench, void (*)(OwnBench*)> stopped(&*own.bench, [](OwnBench* bench) { bench->stop(); });
  own.bench->measure_beside({reference, task.reference.source_hash, task.reference_key});
  std::vector<Configuration> candidates;
  std::ranges::transform(task.candidates, std::back_inserter(candidates), &TaskSide::configuration);
  own.bench->add(candidates, task.level);
  const auto say = [&](const std::string& what) { observer_.progress({.what = "scan " + what}); };
  while (const std::optional<ScanMeasurement> measured = own.bench->take(ScanBench::Time::max(), say)) {
    tell(*measured);
  }
}

JudgedTask TaskJudge::collect(const Experiment& experiment) {
  const Catalogue& catalogue = workspace_.catalogue();
  Journal& journal = own_->journal;
  JudgedTask judged{.machine = workspace_.machine(),
                    .roofs = known_roofs(journal, workspace_.machine()),
                    .sentinels = {},
                    .sources = {catalogue.get(experiment.candidate.variant)},
                    .experiment = experiment};
  if (experiment.incumbent.variant != experiment.candidate.variant) {
    judged.sources.push_back(catalogue.get(experiment.incumbent.variant));
  }
  for (const SentinelRow& row : sentinels_of(journal, own_->frame->campaign)) {
    if (row.id > last_sentinel_) {
      judged.sentinels.push_back({.row = row, .rounds = sentinel_rounds(journal, row.id)});
    }
  }
  last_sentinel_ = judged.sentinels.empty() ? last_sentinel_ : judged.sentinels.back().row.id;
  return judged;
}

}  // namespace apo
