// harness/loop/replay.cpp - rebuilds the plan of a recorded experiment and runs it in this machine's runtime.
#include "harness/loop/replay.h"

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/hooks.h"
#include "harness/loop/workspace/known_roofs.h"

namespace apo {
namespace {

using Kind = ReplayRow::Kind;

std::string name_of(const Experiment& experiment) {
  return "experiment " + std::to_string(experiment.id);
}

void check_original(Journal& journal, const Experiment& original, Kind kind) {
  if (const auto row = journal.replay(original.id)) {
    const std::string id = std::to_string(row->original);
    throw UserError(name_of(original) + " is itself a replay of experiment " + id,
                    "measure that: 'apo replay " + id + "'");
  }
  if (!original.judgement) {
    throw UserError(name_of(original) + " was never judged: it was interrupted, or is under way",
                    "'apo query' lists the others");
  }
  if (kind == Kind::confirm && original.judgement->verdict != Verdict::accepted) {
    throw UserError(name_of(original) + " was not accepted but " + std::string(to_string(original.judgement->verdict)) +
                        ", so it has no confirmation to repeat",
                    "'apo replay " + std::to_string(original.id) + "' runs its whole judgement again");
  }
}

// From the stored source alone, whatever the checkout or the columns beside it say.
Variant stored_variant(Journal& journal, const Configuration& configuration, const std::string& hash) {
  const auto known = journal.variant(hash);
  if (!known || sha256(known->source) != hash) {
    throw UserError("the journal has lost the source of " + configuration.label() + " (sha256 " + hash + ")",
                    "restore the journal from a copy; its other experiments can be measured again");
  }
  Variant variant = parse_variant(known->source, "journal:" + configuration.variant);
  if (variant.id() != configuration.variant) {
    throw UserError("the stored source of " + configuration.label() + " calls itself '" + variant.id() + "'",
                    "the journal was changed by hand: restore it from a copy");
  }
  resolve_settings(variant, configuration.settings);
  return variant;
}

bool has_gate(const Experiment& experiment, const std::string& name) {
  return std::any_of(experiment.gates.begin(), experiment.gates.end(),
                     [&](const GateResult& gate) { return gate.gate == name; });
}

JudgePreset recorded_preset(const Judgement& judgement) {
  if (judgement.preset.empty()) {
    return standard_preset();  // it never came to timing
  }
  JudgePreset preset = preset_named(judgement.preset);
  preset.minimum_claim = std::isfinite(judgement.minimum_claim) ? judgement.minimum_claim : 0;
  return preset;
}

CachePolicy recorded_cache_policy(Journal& journal, const Experiment& original) {
  if (original.judgement->cache_policy) {
    return *original.judgement->cache_policy;
  }
  const auto campaign = journal.campaign(original.campaign);
  return campaign ? campaign->policy.cache_policy : CachePolicy::cold;
}

// One replay, everything looked up.
class Rebuilt {
 public:
  Rebuilt(Workspace& workspace, Journal& journal, const Experiment& original)
      : original_(original),
        candidate_(stored_variant(journal, original.candidate, original.candidate_source_hash)),
        incumbent_(stored_variant(journal, original.incumbent, original.incumbent_source_hash)),
        family_(workspace.family(original.family)) {
    // Two sources of one name have to be told apart in the runtime.
    if (candidate_.id() == incumbent_.id() && candidate_.source_hash != incumbent_.source_hash) {
      incumbent_name_ += "@incumbent";
    }
    workspace.use(candidate_.target);
    runtime_ = workspace.runtime(family_, {{original.candidate.variant, candidate_}, {incumbent_name_, incumbent_}});
  }

  EvaluatePlan plan(Workspace& workspace, Journal& journal, Kind kind) const {
    const Judgement& judged = *original_.judgement;
    const bool timed = judged.reason != Reason::gate_failed;
    EvaluatePlan plan;
    for (const std::string& name : original_.workloads) {
      plan.workloads.push_back(&workspace.workload(family_, name));
      if (const std::string why = runtime_.unsupported(incumbent(), plan.workloads.back()->axes); !why.empty()) {
        throw EnvironmentError(original_.incumbent.label() + " does not support " + name + " on this machine: " + why);
      }
    }
    plan.preset = recorded_preset(judged);
    plan.index = std::max(1, original_.index);
    plan.cache = recorded_cache_policy(journal, original_);
    plan.seed = secret_seed();
    plan.trusted = kind == Kind::confirm || (timed && !has_gate(original_, "correctness"));
    plan.sanitize = !timed || has_gate(original_, "sanitizers");
    plan.time_same_code = timed && original_.candidate_build.code_hash == original_.incumbent_build.code_hash;
    if (!original_.rounds.empty()) {
      plan.rounds.layout = original_.rounds.front().environment.layout.value_or(Layout::random);
    }
    plan.confirm_rounds = kind == Kind::confirm ? judged.rounds : 0;
    if (original_.campaign != 0) {
      const std::vector<Roof> roofs = known_roofs(journal, workspace.machine());
      for (const Workload* workload : plan.workloads) {
        plan.floor_ns[workload->name] = roofs.empty() ? 0 : floor_of(family_, *workload, workspace.machine(), roofs);
      }
    }
    return plan;
  }

  Configuration incumbent() const { return {.variant = incumbent_name_, .settings = original_.incumbent.settings}; }
  const Variant& candidate_source() const { return candidate_; }
  const Variant& incumbent_source() const { return incumbent_; }
  const Runtime& runtime() const { return runtime_; }

 private:
  const Experiment& original_;
  Variant candidate_;
  Variant incumbent_;
  std::string incumbent_name_ = original_.incumbent.variant;
  const Family& family_;
  Runtime runtime_;
};

// Nothing is predicted: the result is known.
Experiment experiment_like(const Experiment& original, const Machine& machine) {
  return {.index = std::max(1, original.index),
          .family = original.family,
          .workload_class = original.workload_class,
          .workloads = original.workloads,
          .candidate = original.candidate,
          .incumbent = original.incumbent,
          .candidate_source_hash = original.candidate_source_hash,
          .incumbent_source_hash = original.incumbent_source_hash,
          .techniques = original.techniques,
          .started_at = utc_now(),
          .machine = machine.id};
}

void measure(const Rebuilt& rebuilt, Experiment& again, const EvaluatePlan& plan, Journal& journal,
             Observer& observer) {
  const Configuration recorded = again.incumbent;
  again.incumbent = rebuilt.incumbent();
  try {
    evaluate(rebuilt.runtime(), again, plan, hooks_for(observer, &journal, again.id));
  } catch (const std::exception& error) {
    journal.mark_abandoned({.kind = Unfinished::Kind::experiment, .id = again.id}, error.what());
    throw;
  }
  again.incumbent = recorded;
  journal.finish_experiment(again);
}

}  // namespace

Replay measure_again(Workspace& workspace, Journal& journal, std::int64_t id, Kind kind, Observer& observer) {
  Replay replay{.original = journal.load_experiment(id)};
  const Experiment& original = replay.original;
  check_original(journal, original, kind);
  const Rebuilt rebuilt(workspace, journal, original);
  const EvaluatePlan plan = rebuilt.plan(workspace, journal, kind);
  if (const auto machine = journal.machine_of(id)) {
    replay.differences = machine_differences(*machine, workspace.machine());
  }
  if (!original.judgement->rule_version.empty() && original.judgement->rule_version != kRuleVersion) {
    replay.differences.push_back("rule of the judge: " + original.judgement->rule_version + " then, " +
                                 std::string(kRuleVersion) + " now");
  }
  journal.add_machine(workspace.machine());
  replay.again = experiment_like(original, workspace.machine());
  replay.again.id = journal.begin_replay(replay.again, id, kind);
  observer.say(name_of(original) + " again, as experiment " + std::to_string(replay.again.id) + ": " +
               original.candidate.label() + " against " + original.incumbent.label());
  measure(rebuilt, replay.again, plan, journal, observer);
  for (std::string& line : build_differences(original, replay.again)) {
    replay.differences.push_back(std::move(line));
  }
  replay.reproduction = reproduction_of(original, replay.again);
  return replay;
}

}  // namespace apo
