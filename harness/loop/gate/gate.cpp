// harness/loop/gate/gate.cpp - measures two sources of one name side by side in one runtime.
#include "harness/loop/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/plan.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/known.h"

namespace apo {
namespace {

// One gate, everything looked up.
struct Pair {
  const StoredVariant* stored = nullptr;
  const Variant* current = nullptr;
  std::vector<const Workload*> workloads;
  Configuration baseline;
  Configuration candidate;
};

bool is_for_family(const std::string& workload, const std::string& family) {
  const std::size_t slash = workload.find('/');
  return slash == std::string::npos || workload.substr(0, slash) == family;
}

std::vector<std::string> workloads_of(const Workspace& workspace, const Family& family, Target target,
                                      const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    if (is_for_family(name, family.name)) {
      const std::string& found = workspace.workload(family, name).name;
      if (std::find(names.begin(), names.end(), found) == names.end()) {
        names.push_back(found);
      }
    }
  }
  return names.empty() ? std::vector<std::string>{first_workload(family, target).name} : names;
}

// Selects the stored workloads that are asked for.
std::vector<const Workload*> asked_workloads(const Workspace& workspace, const StoredVariant& stored,
                                             const std::vector<std::string>& asked) {
  const Family& family = workspace.family(stored.variant.family);
  std::vector<const Workload*> workloads;
  for (const std::string& name : stored.workloads) {
    if (asked.empty() || std::ranges::any_of(asked, [&](const std::string& one) {
          return one == name || one == family.name + "/" + name;
        })) {
      workloads.push_back(&workspace.workload(family, name));
    }
  }
  return workloads;
}

void check_asked_workloads(const std::vector<StoredVariant>& stored, const std::vector<std::string>& asked) {
  std::vector<std::string> known;
  for (const StoredVariant& one : stored) {
    for (const std::string& name : one.workloads) {
      known.insert(known.end(), {name, one.variant.family + "/" + name});
    }
  }
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string guess = did_you_mean(name, known);
      throw UserError("no stored variant has the workload '" + name + "'",
                      (guess.empty() ? "" : guess + "\n") + "'apo gate --store' with --workload stores it");
    }
  }
}

Pair look_up(Workspace& workspace, const StoredVariant& stored, const GateRequest& request) {
  Pair pair{.stored = &stored, .workloads = asked_workloads(workspace, stored, request.workloads)};
  pair.current = workspace.catalogue().find(stored.variant.id());
  if (pair.current == nullptr) {
    std::string hint = "bring it back, or write a baseline without it with 'apo gate --store'";
    for (const CatalogueProblem& problem : workspace.catalogue().problems()) {
      hint += problem.left_out ? "\na file that is no variant: " + problem.what : "";
    }
    throw UserError("this checkout has no variant '" + stored.variant.id() + "', which the baseline holds", hint);
  }
  if (pair.current->target != stored.variant.target) {
    throw UserError("'" + stored.variant.id() + "' was for target " + std::string(to_string(stored.variant.target)) +
                        " and is for " + std::string(to_string(pair.current->target)) + " now",
                    "write a new baseline with 'apo gate --store'");
  }
  pair.baseline = {.variant = stored.variant.id() + "@baseline",
                   .settings = resolve_settings(stored.variant, stored.settings)};
  try {
    pair.candidate = {.variant = pair.current->id(), .settings = resolve_settings(*pair.current, stored.settings)};
  } catch (const UserError& error) {
    throw UserError("the stored settings of " + stored.label() + " do not fit it any more: " + error.what(),
                    "write a new baseline with 'apo gate --store'");
  }
  return pair;
}

// Throws EnvironmentError where no answer would mean anything: identical code seemed to differ by more than the margin
// here.
void check_resolution(const Workspace& workspace, const GatedPair& gated, const std::string& family, double margin) {
  std::optional<Journal> journal = existing_journal(workspace);
  const ClaimFloor floor = claim_floor(journal ? &*journal : nullptr, workspace.machine(), family, gated.workloads);
  if (floor.smallest > margin) {
    throw EnvironmentError("the margin of " + format_percent(margin) +
                           " is smaller than what this machine resolves: " + floor.sentence);
  }
}

// The stored variant is the incumbent of an experiment that no journal keeps.
void measure(Workspace& workspace, const Pair& pair, const GateRequest& request, Observer& observer, GatedPair& gated) {
  workspace.use(pair.current->target);
  const Family& family = workspace.family(pair.stored->variant.family);
  const Runtime runtime = workspace.runtime(family, {{pair.baseline.variant, pair.stored->variant}});
  const EvaluatePlan plan{.workloads = pair.workloads,
                          .preset = first_preset(request.judge_preset),
                          .cache = request.cache_policy,
                          .seed = secret_seed(),
                          .sanitize = false,
                          .rounds = {.layout = request.layout}};
  if (const std::string why = unsupported(runtime, pair.baseline, plan.workloads); !why.empty()) {
    throw EnvironmentError(why);
  }
  Experiment experiment{
      .family = family.name, .workloads = gated.workloads, .candidate = pair.candidate, .incumbent = pair.baseline};
  const EvaluateHooks hooks{.before_timing = [&](EvaluatePlan& timed) {
    check_resolution(workspace, gated, family.name, request.margin);
    choose_judge(timed, request.judge_preset, runtime, pair.baseline, observer);
    timed.regression = {.margin = request.margin, .looks = timed.preset.looks};
  }};
  if (auto outcome = evaluate(runtime, experiment, plan, observer, hooks)) {
    gated.outcome = *std::move(outcome);
  } else {
    const GateResult& last = experiment.gates.back();
    const bool same_code = experiment.outcome == Outcome::no_change;
    gated.outcome.gate = same_code ? GateVerdict::passed : GateVerdict::failed;
    gated.outcome.judgement.sentence = same_code ? last.evidence : failed_at(last);
  }
  gated.outcome.judgement.seconds = experiment.judgement->seconds;
  gated.gates = std::move(experiment.gates);
  gated.rounds = experiment.rounds.size();
}

}  // namespace

std::vector<StoredVariant> store_variants(Workspace& workspace, const std::vector<std::string>& configurations,
                                          const std::vector<std::string>& workloads) {
  std::vector<StoredVariant> stored;
  std::set<std::string> families;
  std::set<std::string> labels;
  for (const std::string& text : configurations) {
    const Configuration configuration = workspace.catalogue().configuration(text);
    const Variant& variant = workspace.catalogue().get(configuration.variant);
    const Family& family = workspace.family(variant.family);
    const bool given = text.find('[') != std::string::npos;
    stored.push_back({.variant = variant,
                      .settings = given ? configuration.settings : Settings(),
                      .workloads = workloads_of(workspace, family, variant.target, workloads)});
    families.insert(family.name);
    if (!labels.insert(stored.back().label()).second) {
      throw UserError("'" + text + "' was given twice");
    }
    for (const std::string& name : stored.back().workloads) {
      std::string why;
      // A GPU's facts are not needed to store what runs on it; the gate itself looks at them.
      if (variant.target == Target::host &&
          !supports(variant, family, workspace.workload(family, name).axes, configuration.settings, &why)) {
        throw UserError(configuration.label() + " does not support " + name + ": " + why);
      }
    }
  }
  for (const std::string& name : workloads) {
    if (std::none_of(families.begin(), families.end(),
                     [&](const std::string& family) { return is_for_family(name, family); })) {
      throw UserError("the workload '" + name + "' is of no family of the stored variants");
    }
  }
  return stored;
}

std::vector<GatedPair> run_gate(Workspace& workspace, const GateRequest& request, Observer& observer) {
  check_asked_workloads(request.stored, request.workloads);
  static_cast<void>(asked_preset(request.judge_preset));  // throws before anything is measured
  std::vector<Pair> pairs;
  for (const StoredVariant& stored : request.stored) {
    Pair pair = look_up(workspace, stored, request);
    if (!pair.workloads.empty()) {
      pairs.push_back(std::move(pair));
    }
  }
  std::vector<GatedPair> gated;
  for (const Pair& pair : pairs) {
    GatedPair one{.label = pair.stored->label(),
                  .workloads = names_of(pair.workloads),
                  .baseline_hash = pair.stored->variant.source_hash,
                  .current_hash = pair.current->source_hash};
    try {
      measure(workspace, pair, request, observer, one);
    } catch (const DeviceLost&) {
      throw;  // the next variant would find no GPU either
    } catch (const EnvironmentError& error) {
      one.outcome.judgement.sentence = with_hint(error);
    }
    observer.say(fmt::format("{}: {}, {}", one.label, to_string(*one.outcome.gate), one.outcome.judgement.sentence));
    gated.push_back(std::move(one));
  }
  return gated;
}

}  // namespace apo
