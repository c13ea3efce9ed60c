// harness/evaluate/evaluate.cpp - runs the untimed gates, then timing and regimes.
#include "harness/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/case_checks.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/large_case.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/evaluate/untimed_gates.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Pairs = std::vector<TimedWorkload>;

void draw_inputs(const Evaluation& evaluation, Pairs& pairs) {
  const Runtime& runtime = evaluation.runtime;
  const EvaluatePlan& plan = evaluation.plan;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Workload& workload = *plan.workloads[i];
    const StageRange drawing("inputs of " + workload.name);
    evaluation.observer.progress({.what = "inputs of " + workload.name});
    if (pairs[i].has_host_code() && !plan.trusted) {
      pairs[i].other_regime = make_other_regime(runtime, workload, shared_seed(evaluation));
    }
    pairs[i].pool = make_pool(runtime, workload, derive_seed(plan.seed, "pool", 0));  // of the whole campaign
  }
}

// Returns how many cases fit into a quarter of the memory, with their tensors in double and in their own dtypes.
std::size_t cases_at_once(const Family& family, const CheckCase& one) {
  constexpr double kBytesOfElement = 16;
  const double bytes = kBytesOfElement * static_cast<double>(element_count(family, one.axes));
  return static_cast<std::size_t>(std::max(1.0, static_cast<double>(physical_memory_bytes()) / 4 / bytes));
}

bool is_slow(const Family& family, const CheckCase& one) {
  return one.purpose == Purpose::look && !is_cheap(family, one.axes);
}

// Has the incumbent called where the reference is slow, as every element of the candidate's call is held against its
// call then. Where there is none to hold it against, the reference computes more units. Returns what that took; adds
// what the incumbent did wrong to `evidence`.
double call_incumbent(const Evaluation& evaluation, std::vector<CheckCase>& cases, std::uint64_t seed,
                      std::string& evidence) {
  GateSteps steps;
  const auto results = run_cases(evaluation.runtime, evaluation.experiment.incumbent, cases, seed, {}, steps);
  double reference_s = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool is_wrong = results[i] && results[i]->outcome != Outcome::valid;
    cases[i].is_held = results[i] && !is_wrong && results[i]->is_witness;
    cases[i].purpose = cases[i].is_held ? Purpose::look : Purpose::gate;
    reference_s += results[i] ? results[i]->reference_s : 0;
    if (!cases[i].is_held) {  // these wait in the store for the candidate
      const auto inputs = case_inputs(evaluation.runtime, cases[i], seed_of_case(seed, i));
      const auto begin = std::chrono::steady_clock::now();
      std::ranges::for_each(inputs, [](const CheckedPointer& one) {
        if (one != nullptr) {
          one->expected();
        }
      });
      reference_s += seconds_since(begin);
    }
    evidence += is_wrong ? "; the incumbent fails there: " + results[i]->evidence : "";
  }
  return reference_s;
}

// The untimed gates sample two regimes and can miss a rare one; and they have no shape beyond 2^31 elements.
void check_every_regime(const Evaluation& evaluation) {
  Experiment& experiment = evaluation.experiment;
  std::vector<CheckCase> cases = every_regime_plan(*evaluation.runtime.family, names_of(evaluation.plan.workloads));
  if (experiment.judgement->verdict != Verdict::accepted || evaluation.plan.trusted || cases.size() < 2) {
    return;
  }
  const std::uint64_t seed = one_way_seed(evaluation.plan.seed, "regimes", static_cast<std::uint64_t>(experiment.id));
  Random random(derive_seed(seed, "order"));
  shuffle(cases, random);
  if (evaluation.runtime.worker.target == Target::cuda) {
    if (auto large = large_case(evaluation.runtime, experiment.candidate, seed)) {
      cases.insert(cases.begin(), std::move(*large));
    }
  }
  if (!add_gate(evaluation, regimes_gate(evaluation, std::move(cases), seed))) {
    fail_after_timing(experiment);
  }
}

// An incumbent may be slow where it finds itself in that role, and small errors of a chain of accepts add up.
void check_against_baseline(const Evaluation& evaluation) {
  Experiment& experiment = evaluation.experiment;
  const EvaluatePlan& plan = evaluation.plan;
  Judgement& judgement = *experiment.judgement;
  if (!plan.baseline || judgement.verdict != Verdict::accepted || *plan.baseline == experiment.incumbent) {
    return;
  }
  const StageRange range("gate baseline");
  const auto start = std::chrono::steady_clock::now();
  GateResult gate{.gate = "baseline"};
  try {
    const BaselineClaim claim = hold_against_baseline(evaluation.runtime, experiment, plan, evaluation.observer);
    gate.evidence = baseline_sentence(claim, experiment.candidate.label(), plan.baseline->label(), judgement.speedup());
    judgement.sentence = claim.holds ? judgement.sentence + " " + gate.evidence : gate.evidence;
    if (!claim.holds) {
      judgement.verdict = Verdict::reverted;
      judgement.reason = Reason::confirm_failed;
    }
  } catch (const DeviceLost&) {
    throw;
  } catch (const EnvironmentError& error) {
    gate.ran = false;
    gate.evidence = "not held against the family's baseline: " + one_line(with_hint(error));
  }
  gate.seconds = seconds_since(start);
  add_gate(evaluation, std::move(gate));
}

// Returns a name for the coins that no other comparison of the campaign has.
std::string comparison_name(const Experiment& experiment, const std::string& tag) {
  return fmt::format("{} {} {}{}{}", experiment.id, experiment.incumbent.label(), experiment.candidate.label(),
                     tag.empty() ? "" : " ", tag);
}

void add_timing_gates(const Evaluation& evaluation, PairOutcome& outcome) {
  const std::vector<Round>& rounds = evaluation.experiment.rounds;
  const Judgement& judgement = outcome.judgement;
  const auto count = [&](RoundStage stage) { return std::ranges::count(rounds, stage, &Round::stage); };
  if (outcome.outcome != Outcome::valid) {
    add_gate(evaluation, {.gate = "timing",
                          .outcome = outcome.outcome,
                          .evidence = judgement.sentence,
                          .seconds = outcome.seconds,
                          .wrong = outcome.wrong});
    return;
  }
  if (outcome.gate) {
    add_gate(evaluation, {.gate = "timing",
                          .evidence = fmt::format("{} rounds in {} processes; {}", rounds.size(), processes_of(rounds),
                                                  judgement.sentence),
                          .seconds = outcome.seconds});
  }
  if (const auto searched = count(RoundStage::search); searched > 0) {
    add_gate(evaluation, {.gate = "timing",
                          .evidence = fmt::format("{} rounds in {} processes, search estimate {}", searched,
                                                  processes_of(rounds) < std::ssize(rounds) ? "shared" : "fresh",
                                                  format_percent(judgement.search_effect)),
                          .seconds = outcome.seconds_of[RoundStage::search]});
  }
  if (const auto confirmed = count(RoundStage::confirm); confirmed > 0) {
    const auto looked = count(RoundStage::second_look);
    add_gate(evaluation,
             {.gate = "confirmation",
              .evidence = fmt::format("{} more rounds, {}{}", confirmed,
                                      format_change(judgement.effect, judgement.lower, judgement.upper).all(),
                                      looked > 0 ? fmt::format("; a second look over {} rounds", looked) : ""),
              .seconds = outcome.seconds_of[RoundStage::confirm] + outcome.seconds_of[RoundStage::second_look]});
  }
}

// Fills rounds, judgement and the gates "timing" and "confirmation".
PairOutcome time_pairs(const Evaluation& evaluation, Pairs pairs) {
  const EvaluatePlan& plan = evaluation.plan;
  Experiment& experiment = evaluation.experiment;
  const std::size_t workloads = pairs.size();
  const RoundOptions options = round_options(plan, pairs);
  RoundRunner runner(evaluation.runtime, std::move(pairs), plan.preset, plan.seed,
                     comparison_name(experiment, plan.comparison_tag), plan.cache, options);
  PairOutcome outcome = judge_pair({.source = in_turns(evaluation.runtime, runner, evaluation.observer),
                                    .what = experiment.candidate.label() + " against " + experiment.incumbent.label(),
                                    .plan = {.preset = plan.preset,
                                             .index = std::max(1, plan.index),
                                             .cache_policy = plan.cache,
                                             .confirm_rounds = plan.confirm_rounds},
                                    .regression = plan.regression,
                                    .workloads = workloads,
                                    .observer = evaluation.observer,
                                    .on_round = [&](const Round& round) {
                                      experiment.rounds.push_back(round);
                                      if (evaluation.hooks.on_round) {
                                        evaluation.hooks.on_round(round);
                                      }
                                    }});
  if (const std::string& own = evaluation.runtime.family->declared_tolerance; !own.empty()) {
    outcome.judgement.sentence += " Right within the family's own tolerance: " + own + ".";
  }
  if (evaluation.runtime.launch == LaunchForm::graph) {
    outcome.judgement.sentence += " Launched as one CUDA graph.";
  }
  experiment.judgement = outcome.judgement;
  add_timing_gates(evaluation, outcome);
  return outcome;
}

}  // namespace

GateResult regimes_gate(const Evaluation& evaluation, std::vector<CheckCase> cases, std::uint64_t seed) {
  const Runtime& runtime = evaluation.runtime;
  GateResult gate{.gate = "regimes"};
  const auto slow_ones = std::stable_partition(cases.begin(), cases.end(),
                                               [&](const CheckCase& one) { return !is_slow(*runtime.family, one); });
  const auto cheap = static_cast<std::size_t>(slow_ones - cases.begin());
  for (std::size_t i = 0; i < cheap; ++i) {
    cases[i].purpose = Purpose::gate;
  }
  std::string evidence;
  double reference_s = 0;
  std::size_t begin = 0;
  while (begin < cases.size() && gate.outcome == Outcome::valid &&
         (begin <= cheap || reference_s < evaluation.plan.regimes_s)) {
    const bool slow = begin >= cheap;
    const std::size_t most =
        slow ? std::min(cases.size() - begin, static_cast<std::size_t>(std::max(1, runtime.threads))) : cheap - begin;
    const std::size_t count = std::min(cases_at_once(*runtime.family, cases[begin]), most);
    std::vector<CheckCase> some(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                                cases.begin() + static_cast<std::ptrdiff_t>(begin + count));
    const std::uint64_t own = derive_seed(seed, "cases", begin);
    const auto start = std::chrono::steady_clock::now();
    reference_s += slow ? call_incumbent(evaluation, some, own, evidence) : 0;
    const GateResult one = correctness_gate(
        runtime, evaluation.experiment.candidate, some, own, [&](int done, int, const std::string& what) {
          evaluation.observer.progress({.what = "verify every regime of " + what,
                                        .done = static_cast<int>(begin) + done,
                                        .expected = static_cast<int>(cases.size())});
        });
    gate.seconds += seconds_since(start);
    if (one.outcome != Outcome::valid) {
      gate.outcome = one.outcome;
      gate.evidence = one.evidence;
      gate.wrong = one.wrong;
      gate.wrong_case = one.wrong_case;
    }
    begin += count;
  }
  if (gate.outcome == Outcome::valid) {
    gate.evidence =
        fmt::format("right in {} of {} cases", begin == cases.size() ? "all" : std::to_string(begin), cases.size());
    std::vector<std::string> left_out;
    for (std::size_t i = begin; i < cases.size(); ++i) {
      left_out.push_back(fmt::format("{} of {}", cases[i].regimes.front(), cases[i].workload));
    }
    gate.evidence += left_out.empty()
                         ? ""
                         : fmt::format(", drawn by lot where the reference is slow: it took {}; left out: {}",
                                       format_seconds(reference_s), join(left_out, ", "));
  }
  gate.evidence += evidence;
  return gate;
}

std::string failed_at(const GateResult& last) {
  return fmt::format("{} at the gate '{}': {}", to_string(last.outcome), last.gate, last.evidence);
}

Judgement not_timed(const GateResult& last) {
  return untimed("Not timed: " + failed_at(last));
}

void fail_after_timing(Experiment& experiment) {
  const GateResult& last = experiment.gates.back();
  experiment.outcome = last.outcome;
  experiment.judgement->verdict = Verdict::reverted;
  experiment.judgement->reason = Reason::gate_failed;
  experiment.judgement->sentence = "Faster and wrong: " + failed_at(last);
}

std::optional<PairOutcome> evaluate(const Runtime& runtime, Experiment& experiment, EvaluatePlan plan,
                                    Observer& observer, const EvaluateHooks& hooks) {
  const StageRange range("evaluate " + experiment.candidate.label());
  const Evaluation evaluation{runtime, experiment, plan, observer, hooks};
  auto start = std::chrono::steady_clock::now();
  std::optional<Pairs> pairs = pass_untimed_gates(evaluation);
  double seconds = seconds_since(start);
  std::optional<PairOutcome> outcome;
  if (!pairs) {
    experiment.judgement = not_timed(experiment.gates.back());
  } else {
    if (hooks.before_timing) {
      hooks.before_timing(plan);
    }
    const StageRange timing("gate timing");
    start = std::chrono::steady_clock::now();
    draw_inputs(evaluation, *pairs);
    outcome = time_pairs(evaluation, std::move(*pairs));
    check_every_regime(evaluation);
    check_against_baseline(evaluation);
    seconds += seconds_since(start);
  }
  experiment.judgement->seconds = seconds;
  experiment.finished_at = utc_now();
  return outcome;
}

}  // namespace apo
