// harness/loop/comparison.cpp - the gates and the judge for two variants that somebody named.
#include "harness/loop/comparison.h"

#include <filesystem>
#include <map>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/sentinel.h"
#include "harness/loop/hooks.h"
#include "harness/loop/policy.h"
#include "harness/loop/workspace/claim_floor.h"
#include "harness/loop/workspace/known_roofs.h"
#include "journal/journal.h"

namespace apo {
namespace {

Policy checked_policy(const Family& family, const ComparisonRequest& request) {
  Policy policy = default_policy(family.name);
  if (!request.workloads.empty()) {
    policy.workloads = request.workloads;
  }
  policy.cache_policy = request.cache_policy;
  policy.judge_preset = request.judge_preset;
  complete_policy(policy, "");
  return policy;
}

// What the candidate's author said of this very comparison; else nothing, which is 1x to 1x.
Prediction prediction_over(const Variant& candidate, const Variant& incumbent) {
  if (!candidate.prediction) {
    return {};
  }
  const std::string& over = candidate.prediction->relative_to;
  const bool meant =
      over == "parent" ? candidate.parent == incumbent.id() : over == incumbent.id() || over == incumbent.name;
  return meant ? *candidate.prediction : Prediction();
}

// Of the roofs that the journal has of this machine, if any: they are measured where a profile is made.
std::map<std::string, double> known_floors(const Family& family, const EvaluatePlan& plan, const Workspace& workspace,
                                           std::optional<Journal>& journal) {
  std::map<std::string, double> floors;
  if (!journal && !std::filesystem::exists(workspace.paths().journal)) {
    return floors;
  }
  std::optional<Journal> reader;
  Journal& known = journal ? *journal : reader.emplace(Journal::open(workspace.paths().journal, Access::read_only));
  const std::vector<Roof> roofs = known_roofs(known, workspace.machine());
  for (const Workload* workload : plan.workloads) {
    floors[workload->name] = roofs.empty() ? 0 : floor_of(family, *workload, workspace.machine(), roofs);
  }
  return floors;
}

}  // namespace

Experiment compare_variants(Workspace& workspace, const ComparisonRequest& request, Observer& observer) {
  const Variant& incumbent = workspace.catalogue().get(request.incumbent.variant);
  const Variant& candidate = workspace.catalogue().get(request.candidate.variant);
  if (incumbent.family != candidate.family) {
    throw UserError("cannot compare " + incumbent.id() + " with " + candidate.id() + ": they are of two families");
  }
  if (incumbent.target != candidate.target) {
    throw UserError("cannot compare " + incumbent.id() + " with " + candidate.id() + ": they are for two targets",
                    "compare variants for the same target; 'apo list " + candidate.family + "' shows them");
  }
  workspace.use(candidate.target);
  const Family& family = workspace.family(candidate.family);
  const Policy policy = checked_policy(family, request);
  const Runtime runtime = workspace.runtime(family);
  EvaluatePlan plan;
  plan.cache = policy.cache_policy;
  plan.seed = secret_seed();
  plan.trusted = request.skip_correctness;
  plan.time_same_code = request.same_code;
  plan.rounds.layout = request.layout;
  for (const std::string& name : policy.workloads) {
    plan.workloads.push_back(&workspace.workload(family, name));
    if (const std::string why = runtime.unsupported(request.incumbent, plan.workloads.back()->axes); !why.empty()) {
      throw UserError(request.incumbent.label() + " does not support " + name + ": " + why);
    }
  }
  std::optional<Journal> journal;
  if (request.keep) {
    journal.emplace(Journal::open(workspace.paths().journal, Access::read_write));
    journal->add_machine(workspace.machine());
    journal->add_variant(incumbent);
    journal->add_variant(candidate);
  }
  plan.preset = policy.judge_preset == "auto" ? standard_preset() : preset_named(policy.judge_preset);
  if (policy.judge_preset == "auto") {
    const SentinelResult sentinel = run_sentinel(runtime, request.incumbent, plan, 0, {}, hooks_for(observer));
    if (sentinel.check.stop) {
      throw EnvironmentError("the A/A sentinel failed: " + sentinel.check.why,
                             "identical code must not differ; stop other work on this machine and run again");
    }
    plan.preset = choose_preset(sentinel.check.sd, layout_control(request.layout));
  }
  const ClaimFloor floor =
      journal ? claim_floor(*journal, workspace.machine(), family.name, policy.workloads)
              : claim_floor(workspace.paths().journal, workspace.machine(), family.name, policy.workloads);
  observer.say(floor.sentence);
  plan.preset = with_floor(plan.preset, floor);
  plan.rounds.rounds_per_process = floor.rounds_per_process;
  Experiment experiment{.index = 1,
                        .family = family.name,
                        .workload_class = policy.workload_class,
                        .workloads = policy.workloads,
                        .candidate = request.candidate,
                        .incumbent = request.incumbent,
                        .candidate_source_hash = candidate.source_hash,
                        .incumbent_source_hash = incumbent.source_hash,
                        .techniques = candidate.techniques,
                        .prediction = prediction_over(candidate, incumbent),
                        .started_at = utc_now(),
                        .machine = workspace.machine().id};
  if (journal) {
    experiment.id = journal->begin_experiment(experiment);
  }
  plan.floor_ns = known_floors(family, plan, workspace, journal);
  evaluate(runtime, experiment, plan, hooks_for(observer, journal ? &*journal : nullptr, experiment.id));
  if (journal) {
    journal->finish_experiment(experiment);
  }
  return experiment;
}

}  // namespace apo
