// harness/loop/comparison.cpp - runs the gates and the judge on two named variants.
#include "harness/loop/comparison.h"

#include <filesystem>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/loop/hooks.h"
#include "harness/loop/plan.h"
#include "harness/loop/policy.h"
#include "harness/loop/trial/trial.h"
#include "harness/loop/workspace/claim_floor.h"
#include "harness/loop/workspace/known_incorrect.h"
#include "harness/loop/workspace/known_roofs.h"
#include "harness/loop/workspace/recover.h"
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

// Returns the roofs of this machine in the journal, if any: only a profile measures roofs.
std::vector<Roof> roofs_of(const Workspace& workspace, std::optional<Journal>& journal) {
  if (journal) {
    return known_roofs(*journal, workspace.machine());
  }
  if (!std::filesystem::exists(workspace.paths().journal)) {
    return {};
  }
  Journal reader = Journal::open(workspace.paths().journal, Access::read_only);
  return known_roofs(reader, workspace.machine());
}

ClaimFloor floor_here(const Workspace& workspace, std::optional<Journal>& journal, const Policy& policy) {
  return journal ? claim_floor(*journal, workspace.machine(), policy.family, policy.workloads)
                 : claim_floor(workspace.paths().journal, workspace.machine(), policy.family, policy.workloads);
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

void say_known_incorrect(const Workspace& workspace, std::optional<Journal>& kept, const ComparisonRequest& request,
                         Observer& observer) {
  if (!kept && !std::filesystem::exists(workspace.paths().journal)) {
    return;
  }
  std::optional<Journal> reader =
      kept ? std::optional<Journal>() : Journal::open(workspace.paths().journal, Access::read_only);
  for (const Configuration& one : {request.incumbent, request.candidate}) {
    const Variant& variant = workspace.catalogue().get(one.variant);
    if (const std::string known = known_incorrect(kept ? *kept : *reader, variant, one); !known.empty()) {
      observer.say("note: " + known);
    }
  }
}

// An unsupported incumbent is the user's mistake.
void check_supported(const Runtime& runtime, const Configuration& incumbent,
                     const std::vector<const Workload*>& workloads) {
  for (const Workload* workload : workloads) {
    if (const std::string why = runtime.unsupported(incumbent, workload->axes); !why.empty()) {
      throw UserError(incumbent.label() + " does not support " + workload->name + ": " + why);
    }
  }
}

std::optional<Journal> journal_with(const Workspace& workspace, const Variant& incumbent, const Variant& candidate,
                                    Observer& observer) {
  std::optional<Journal> journal(Journal::open(workspace.paths().journal, Access::read_write));
  recover(*journal, observer);
  journal->add_machine(workspace.machine());
  journal->add_variant(incumbent);
  journal->add_variant(candidate);
  return journal;
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
  const Runtime runtime = workspace.runtime(family);
  EvaluatePlan plan = make_plan({.workloads = workloads_named(workspace, family, policy.workloads),
                                 .cache = policy.cache_policy,
                                 .judge_preset = policy.judge_preset,
                                 .layout = request.layout,
                                 .seed = secret_seed()});
  plan.trusted = request.skip_correctness;
  plan.time_same_code = request.same_code;
  check_supported(runtime, request.incumbent, plan.workloads);
  std::optional<Journal> journal =
      request.keep ? journal_with(workspace, incumbent, candidate, observer) : std::optional<Journal>();
  say_known_incorrect(workspace, journal, request, observer);
  choose_judge(plan, policy.judge_preset, runtime, request.incumbent, observer);
  const ClaimFloor floor = floor_here(workspace, journal, policy);
  observer.say(floor.sentence);
  apply_floor(plan, floor);
  plan.floor_ns = floors_of(family, plan.workloads, workspace.machine(), roofs_of(workspace, journal));
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
                        .machine = workspace.machine().id};
  experiment.id = journal ? journal->begin_experiment(experiment) : 0;
  evaluate(runtime, experiment, plan, observer, journal ? journal_hooks(*journal, experiment.id) : EvaluateHooks());
  if (journal) {
    journal->finish_experiment(experiment);
  }
  return experiment;
}

}  // namespace apo
