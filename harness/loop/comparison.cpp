// harness/loop/comparison.cpp - runs the gates and the judge on two named variants.
#include "harness/loop/comparison.h"

#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/plan.h"
#include "harness/loop/policy.h"
#include "harness/loop/trial/candidate_judge.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/experiments.h"
#include "journal/facts/variants.h"
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

void check_comparable(const Variant& incumbent, const Variant& candidate) {
  const std::string names = incumbent.id() + " with " + candidate.id();
  if (incumbent.family != candidate.family) {
    throw UserError("cannot compare " + names + ": they are of two families");
  }
  if (incumbent.target != candidate.target) {
    throw UserError("cannot compare " + names + ": they are for two targets",
                    "compare variants for the same target; 'apo list " + candidate.family + "' shows them");
  }
}

void check_differ(const ComparisonRequest& request) {
  if (request.incumbent == request.candidate && !request.same_code) {
    throw UserError("both variants are " + request.candidate.label() + ": there is nothing to compare",
                    "--same-code times it against itself, as an A/A run; 'apo selftest' measures what this machine "
                    "resolves");
  }
}

void say_known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration,
                         Observer& observer) {
  if (const std::string known = known_incorrect(journal, variant, configuration); !known.empty()) {
    observer.say("note: " + known);
  }
}

}  // namespace

Experiment compare_variants(Workspace& workspace, const ComparisonRequest& request, Observer& observer) {
  const Variant& incumbent = workspace.catalogue().get(request.incumbent.variant);
  const Variant& candidate = workspace.catalogue().get(request.candidate.variant);
  check_comparable(incumbent, candidate);
  check_differ(request);
  workspace.use(candidate.target);
  const Family& family = workspace.family(candidate.family);
  const Policy policy = checked_policy(family, request);
  workspace.launch_as(request.launch);
  const Runtime runtime = workspace.runtime(family);
  EvaluatePlan plan{.workloads = workloads_named(workspace, family, policy.workloads),
                    .preset = first_preset(policy.judge_preset),
                    .cache = policy.cache_policy,
                    .seed = secret_seed(),
                    .trusted = request.skip_correctness,
                    .time_same_code = request.same_code,
                    .rounds = {.layout = request.layout},
                    .baseline = family_baseline(workspace, family.name)};
  if (const std::string why = unsupported(runtime, request.incumbent, plan.workloads); !why.empty()) {
    throw UserError(why);
  }
  const Machine& machine = workspace.machine();
  std::optional<Journal> journal =
      request.keep ? std::optional(journal_to_measure(workspace, observer)) : existing_journal(workspace.paths());
  if (request.keep) {
    add_variant(*journal, incumbent);
    add_variant(*journal, candidate);
  }
  if (journal) {
    say_known_incorrect(*journal, incumbent, request.incumbent, observer);
    say_known_incorrect(*journal, candidate, request.candidate, observer);
    plan.floor_ns = floors_of(family, plan.workloads, machine, known_roofs(*journal, machine));
  }
  if (journal && !plan.trusted) {
    plan.known_mistakes = [&](const Experiment& judged) { return known_mistakes(*journal, family, judged); };
  }
  Experiment experiment{.index = 1,
                        .family = family.name,
                        .workload_class = policy.workload_class,
                        .workloads = policy.workloads,
                        .candidate = request.candidate,
                        .incumbent = request.incumbent,
                        .candidate_source_hash = candidate.source_hash,
                        .incumbent_source_hash = incumbent.source_hash,
                        .techniques = techniques_of(candidate, request.candidate.settings),
                        .prediction = prediction_over(candidate, incumbent),
                        .started_at = utc_now(),
                        .machine = machine.id};
  const auto before_timing = [&](EvaluatePlan& timed) {
    choose_judge(timed, policy.judge_preset, runtime, request.incumbent, observer);
    const ClaimFloor floor = claim_floor(journal ? &*journal : nullptr, machine, policy.family, policy.workloads);
    observer.say(floor.sentence);
    apply_floor(timed, floor);
    if (journal && !request.keep) {
      count_candidate(*journal, experiment, timed, observer);
    }
  };
  if (request.keep) {
    experiment.id = begin_experiment(*journal, experiment);
    evaluate_in(*journal, runtime, experiment, plan, observer, before_timing);
    finish_experiment(*journal, experiment);
  } else {
    evaluate(runtime, experiment, plan, observer, {.before_timing = before_timing});
  }
  return experiment;
}

}  // namespace apo
