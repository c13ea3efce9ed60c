// harness/loop/replay/replay.cpp - rebuilds the plan of a recorded experiment and runs it in this machine's runtime.
#include "harness/loop/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/sources.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge_pair.h"
#include "harness/evaluate/programs/judge_programs.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/plan.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/variants.h"
#include "journal/journal.h"

namespace apo {
namespace {

bool was_timed(const Judgement& judgement) {
  return judgement.reason != Reason::gate_failed && judgement.rounds > 0;
}

std::string interval(const Judgement& one) {
  return format_interval(one.speedup(), one.speedup_lower(), one.speedup_upper()).all();
}

std::string quoted(std::string_view word) {
  return "'" + std::string(word) + "'";
}

void add_difference(std::vector<std::string>& lines, const std::string& what, const std::string& then,
                    const std::string& now) {
  if (then != now) {
    lines.push_back(what + ": " + (then.empty() ? "none" : then) + " then, " + (now.empty() ? "none" : now) + " now");
  }
}

}  // namespace

Reproduction reproduction_of(const Experiment& original, const Experiment& again) {
  APO_CHECK(original.judgement && again.judgement);
  const Judgement& then = *original.judgement;
  const Judgement& now = *again.judgement;
  if (was_timed(then) != was_timed(now)) {
    return {false, was_timed(then) ? "it was timed then, and now: " + now.sentence
                                   : "it was not timed then (" + std::string(to_string(original.outcome)) +
                                         "), and now it passes the gates"};
  }
  if (then.verdict != now.verdict) {
    return {false, "the verdict was " + quoted(to_string(then.verdict)) + " and is " + quoted(to_string(now.verdict))};
  }
  if (!was_timed(then)) {
    const bool same = original.outcome == again.outcome;
    return {same, same ? "not timed, for the same outcome " + quoted(to_string(again.outcome))
                       : "the outcome was " + quoted(to_string(original.outcome)) + " and is " +
                             quoted(to_string(again.outcome))};
  }
  // Written so that a bound that is no number reproduces nothing.
  if (now.upper >= then.lower && now.lower <= then.upper) {
    return {true, "the same verdict, and " + interval(now) + " agrees with " + interval(then)};
  }
  return {false, "the same verdict, but " + interval(now) + " does not overlap " + interval(then)};
}

std::vector<std::string> machine_differences(const Machine& then, const Machine& now) {
  std::vector<std::string> lines;
  add_difference(lines, "machine", then.model + " " + then.id, now.model + " " + now.id);
  add_difference(lines, "cores", std::to_string(then.cores), std::to_string(now.cores));
  add_difference(lines, "kernel", then.kernel, now.kernel);
  add_difference(lines, "governor", then.governor, now.governor);
  add_difference(lines, "instruction set", then.isa, now.isa);
  add_difference(lines, "driver", then.driver, now.driver);
  add_difference(lines, "memory", format_bytes(static_cast<double>(then.memory_bytes)),
                 format_bytes(static_cast<double>(now.memory_bytes)));
  for (const auto& [name, value] : then.facts) {
    const auto found = now.facts.find(name);
    add_difference(lines, name, value, found == now.facts.end() ? "" : found->second);
  }
  for (const auto& [name, value] : now.facts) {
    if (!then.facts.contains(name)) {
      add_difference(lines, name, "", value);
    }
  }
  return lines;
}

std::vector<std::string> judge_differences(const std::optional<Machine>& then, const Machine& now,
                                           const std::string& rule) {
  std::vector<std::string> lines = then ? machine_differences(*then, now) : std::vector<std::string>();
  if (!rule.empty() && rule != kRuleVersion) {
    lines.push_back(fmt::format("rule of the judge: {} then, {} now", rule, kRuleVersion));
  }
  return lines;
}

std::vector<std::string> build_differences(const Experiment& original, const Experiment& again) {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& arm, const Build& then, const Build& now) {
    if (then.key.empty() || now.key.empty()) {
      return;  // one of them was never built
    }
    add_difference(lines, "compiler of the " + arm, then.toolchain.version, now.toolchain.version);
    add_difference(lines, "flags of the " + arm, join(then.flags, " "), join(now.flags, " "));
    if (then.code_hash != now.code_hash) {
      lines.push_back("machine code of the " + arm + ": not what it was");
    }
  };
  compare("candidate", original.candidate_build, again.candidate_build);
  compare("incumbent", original.incumbent_build, again.incumbent_build);
  return lines;
}

namespace {

using Kind = ReplayRow::Kind;

std::string name_of(const Experiment& experiment) {
  return fmt::format("experiment {}", experiment.id);
}

void check_original(Journal& journal, const Experiment& original, Kind kind) {
  if (const auto row = find_replay(journal, original.id)) {
    throw UserError(fmt::format("{} is itself a replay of experiment {}", name_of(original), row->original),
                    fmt::format("measure that: 'apo replay {}'", row->original));
  }
  if (!original.judgement) {
    throw UserError(name_of(original) + " was never judged: it was interrupted, or is under way",
                    "'apo query' lists the others");
  }
  if (kind == Kind::confirm && original.judgement->verdict != Verdict::accepted) {
    throw UserError(fmt::format("{} was not accepted but {}, so it has no confirmation to repeat", name_of(original),
                                to_string(original.judgement->verdict)),
                    fmt::format("'apo replay {}' runs its whole judgement again", original.id));
  }
}

// From the stored source alone, whatever the checkout or the columns beside it say.
Variant stored_variant(Journal& journal, const Configuration& configuration, const std::string& hash) {
  const auto known = find_variant(journal, hash);
  if (!known || source_identity(*known) != hash) {
    throw UserError("the journal has lost the source of " + configuration.label() + " (sha256 " + hash + ")",
                    "restore the journal from a copy; its other experiments can be measured again");
  }
  if (const Family* family = find_family(known->family);
      family != nullptr && !known->contract.empty() && family->contract != known->contract) {
    throw UserError("the family " + known->family + " has changed since " + configuration.label() + " was judged",
                    "a verdict holds for its contract alone: 'apo compare' judges both under the one of today");
  }
  Variant variant = parse_variant(known->source, "journal:" + configuration.variant, known->headers,
                                  {.family = known->family, .name = known->name, .target = known->target});
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

CachePolicy recorded_cache_policy(Journal& journal, const Experiment& original) {
  if (original.judgement->cache_policy) {
    return *original.judgement->cache_policy;
  }
  const auto campaign = find_campaign(journal, original.campaign);
  return campaign ? campaign->policy.cache_policy : CachePolicy::cold;
}

LaunchForm recorded_launch(Journal& journal, std::int64_t original) {
  const std::vector<Round> rounds = load_experiment(journal, original).rounds;
  return !rounds.empty() && rounds.front().environment.graph.value_or(false) ? LaunchForm::graph : LaunchForm::stream;
}

// The recorded sources, ready to run.
struct Rebuilt {
  Configuration incumbent;  // as the runtime calls it
  const Family& family;
  Runtime runtime;
};

Rebuilt rebuild(Workspace& workspace, Journal& journal, const Experiment& original) {
  Variant candidate = stored_variant(journal, original.candidate, original.candidate_source_hash);
  Variant incumbent = stored_variant(journal, original.incumbent, original.incumbent_source_hash);
  // Two sources of one name have to be told apart in the runtime.
  const bool two_sources = candidate.id() == incumbent.id() && candidate.source_hash != incumbent.source_hash;
  const std::string incumbent_name = original.incumbent.variant + (two_sources ? "@incumbent" : "");
  const Family& family = workspace.family(original.family);
  workspace.use(candidate.target);
  workspace.launch_as(recorded_launch(journal, original.id));
  Runtime runtime = workspace.runtime(family, {{original.candidate.variant, candidate}, {incumbent_name, incumbent}});
  return {{.variant = incumbent_name, .settings = original.incumbent.settings}, family, std::move(runtime)};
}

Layout recorded_layout(const std::vector<Round>& rounds) {
  return rounds.empty() ? Layout::random : rounds.front().environment.layout.value_or(Layout::random);
}

EvaluatePlan plan_again(const Workspace& workspace, Journal& journal, const Family& family, const Experiment& original,
                        Kind kind) {
  const Judgement& judged = *original.judgement;
  const bool timed = judged.reason != Reason::gate_failed;
  EvaluatePlan plan{.workloads = workloads_named(workspace, family, original.workloads),
                    .preset = recorded_preset(judged, original.rounds),
                    .index = 1,  // the recorded preset has the recorded level
                    .cache = recorded_cache_policy(journal, original),
                    .seed = secret_seed(),
                    .sanitize = !timed || has_gate(original, "sanitizers"),
                    .trusted = kind == Kind::confirm || (timed && !has_gate(original, "correctness")),
                    .confirm_rounds = kind == Kind::confirm ? judged.rounds : 0,
                    .time_same_code = timed && original.candidate_build.code_hash == original.incumbent_build.code_hash,
                    .rounds = {.layout = recorded_layout(original.rounds)}};
  const auto baseline = family_baseline(workspace, family.name);
  const bool has_its_name = baseline && (baseline->variant == original.candidate.variant ||
                                         baseline->variant == original.incumbent.variant);  // another text, perhaps
  if ((kind == Kind::confirm || has_gate(original, "baseline")) && !has_its_name) {
    plan.baseline = baseline;
  }
  if (original.campaign != 0) {
    plan.floor_ns = floors_of(family, plan.workloads, workspace.machine(), known_roofs(journal, workspace.machine()));
  }
  return plan;
}

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

}  // namespace

Replay measure_again(Workspace& workspace, Journal& journal, std::int64_t id, Kind kind, Observer& observer) {
  Replay replay{.original = load_experiment(journal, id)};
  const Experiment& original = replay.original;
  check_original(journal, original, kind);
  const Rebuilt rebuilt = rebuild(workspace, journal, original);
  const EvaluatePlan plan = plan_again(workspace, journal, rebuilt.family, original, kind);
  if (const std::string why = unsupported(rebuilt.runtime, rebuilt.incumbent, plan.workloads); !why.empty()) {
    throw EnvironmentError(why);
  }
  replay.differences =
      judge_differences(machine_of(journal, original.id), workspace.machine(), original.judgement->rule_version);
  add_machine(journal, workspace.machine());
  replay.again = experiment_like(original, workspace.machine());
  replay.again.id = begin_replay(journal, replay.again, id, kind);
  observer.say(fmt::format("{} again, as experiment {}: {} against {}", name_of(original), replay.again.id,
                           original.candidate.label(), original.incumbent.label()));
  replay.again.incumbent = rebuilt.incumbent;
  evaluate_in(journal, rebuilt.runtime, replay.again, plan, observer);
  finish_experiment(journal, replay.again);
  replay.again.incumbent = original.incumbent;
  for (std::string& line : build_differences(original, replay.again)) {
    replay.differences.push_back(std::move(line));
  }
  replay.reproduction = reproduction_of(original, replay.again);
  return replay;
}

namespace {

// A void round may have ended before all of its workloads were measured: its coin cannot be tossed again.
std::vector<std::string> check_coins(Journal& journal) {
  std::vector<std::string> findings;
  journal.visit_rounds([&](const std::string& owner, const Round& round) {
    try {
      if (round.void_why.empty()) {
        check_coin(round);
      }
    } catch (const UserError& error) {
      findings.push_back(owner + ": " + error.what());
    }
  });
  return findings;
}

// The verdicts on commands and dispatches follow from few numbers: each is computed again.
std::vector<std::string> check_comparisons(Journal& journal) {
  std::vector<std::string> findings;
  for (const ProgramComparison& comparison : all_comparisons(journal, Detail::rounds)) {
    if (const std::string difference = difference_on_replay(comparison); !difference.empty()) {
      findings.push_back(fmt::format("comparison c{}: {}", comparison.id, difference));
    }
  }
  return findings;
}

}  // namespace

std::vector<std::string> audit(Journal& journal) {
  std::vector<std::string> findings = journal.check_integrity();
  if (findings.empty()) {
    findings = journal.check_invariants();
  }
  if (findings.empty()) {
    findings = check_coins(journal);
  }
  return findings.empty() ? check_comparisons(journal) : findings;
}

}  // namespace apo
