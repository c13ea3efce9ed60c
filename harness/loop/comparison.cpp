// harness/loop/comparison.cpp - the gates and the judge for two variants that somebody named.
#include "harness/loop/comparison.h"

#include <filesystem>
#include <map>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/sentinel.h"
#include "harness/loop/claim_floor.h"
#include "harness/loop/hooks.h"
#include "harness/loop/known_roofs.h"
#include "harness/loop/policy.h"
#include "journal/journal.h"

namespace apo {
namespace {

Policy checked_policy(const Family& family, const ComparisonRequest& request) {
  Policy policy = default_policy(family.name);
  if (!request.workloads.empty()) {
    policy.workloads = request.workloads;
  }
  policy.cache_policy = request.cache_policy;
  policy.judge_profile = request.judge_profile;
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
std::map<std::string, double> known_floors(const Family& family, const EvaluatePlan& plan, const Workbench& bench,
                                           std::optional<Journal>& journal) {
  std::map<std::string, double> floors;
  if (!journal && !std::filesystem::exists(bench.paths().journal)) {
    return floors;
  }
  std::optional<Journal> reader;
  Journal& known = journal ? *journal : reader.emplace(Journal::open(bench.paths().journal, Access::read_only));
  const std::vector<Roof> roofs = known_roofs(known, bench.machine());
  for (const Workload* workload : plan.workloads) {
    floors[workload->name] = roofs.empty() ? 0 : floor_of(family, *workload, bench.machine(), roofs);
  }
  return floors;
}

}  // namespace

Experiment compare_variants(Workbench& bench, const ComparisonRequest& request, Observer& observer) {
  const Variant& incumbent = bench.catalogue().get(request.incumbent.variant);
  const Variant& candidate = bench.catalogue().get(request.candidate.variant);
  if (incumbent.family != candidate.family) {
    throw UserError("cannot compare " + incumbent.id() + " with " + candidate.id() + ": they are of two families");
  }
  if (incumbent.target != candidate.target) {
    throw UserError("cannot compare " + incumbent.id() + " with " + candidate.id() + ": they are for two targets",
                    "compare variants for the same target; 'apo list " + candidate.family + "' shows them");
  }
  bench.use(candidate.target);
  const Family& family = bench.family(candidate.family);
  const Policy policy = checked_policy(family, request);
  const Lab lab = bench.lab(family);
  EvaluatePlan plan;
  plan.cache = policy.cache_policy == "warm" ? CachePolicy::warm : CachePolicy::cold;
  plan.seed = secret_seed();
  plan.trusted = request.skip_correctness;
  plan.time_same_code = request.same_code;
  plan.rounds.layout = request.layout;
  for (const std::string& name : policy.workloads) {
    plan.workloads.push_back(&bench.workload(family, name));
    if (const std::string why = lab.unsupported(request.incumbent, plan.workloads.back()->axes); !why.empty()) {
      throw UserError(request.incumbent.label() + " does not support " + name + ": " + why);
    }
  }
  std::optional<Journal> journal;
  if (request.keep) {
    journal.emplace(Journal::open(bench.paths().journal, Access::read_write));
    journal->add_machine(bench.machine());
    journal->add_variant(incumbent);
    journal->add_variant(candidate);
  }
  plan.profile = policy.judge_profile == "auto" ? standard_profile() : profile_named(policy.judge_profile);
  if (policy.judge_profile == "auto") {
    const SentinelResult sentinel = run_sentinel(lab, request.incumbent, plan, 0, {}, hooks_for(observer));
    if (sentinel.check.stop) {
      throw EnvironmentError("the A/A sentinel failed: " + sentinel.check.why,
                             "identical code must not differ; stop other work on this machine and run again");
    }
    plan.profile = choose_profile(sentinel.check.sd, layout_control(request.layout));
  }
  const ClaimFloor floor = journal ? claim_floor(*journal, bench.machine(), family.name, policy.workloads)
                                   : claim_floor(bench.paths().journal, bench.machine(), family.name, policy.workloads);
  observer.say(floor.sentence);
  plan.profile = with_floor(plan.profile, floor);
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
                        .machine = bench.machine().id};
  if (journal) {
    experiment.id = journal->begin_experiment(experiment);
  }
  plan.floor_ns = known_floors(family, plan, bench, journal);
  evaluate(lab, experiment, plan, hooks_for(observer, journal ? &*journal : nullptr, experiment.id));
  if (journal) {
    journal->finish_experiment(experiment);
  }
  return experiment;
}

}  // namespace apo
