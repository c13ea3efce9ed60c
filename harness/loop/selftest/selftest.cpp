// harness/loop/selftest/selftest.cpp - measures noise, identical code and known differences within the time limit.
#include "harness/loop/selftest/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/evaluate.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "journal/facts/machines.h"
#include "journal/facts/selftests.h"
#include "journal/journal.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kShareInputs = 16;  // comparisons

// The state that all comparisons of a selftest share.
struct Run {
  const SelftestRequest& request;
  Journal& journal;
  Observer& observer;
  Clock::time_point started;
  std::vector<StudiedKernel>& kernels;
  SelftestResult& result;
  std::int64_t trials = 0;
  std::int64_t failures = 0;
  int processes = 0;
};

Selftest begin_selftest(const Machine& machine, const SelftestRequest& request, Journal& journal) {
  Selftest selftest{.machine = machine.id,
                    .cache_policy = request.cache_policy,
                    .judge_preset = request.judge_preset,
                    .rule_version = std::string(kRuleVersion),
                    .seed = secret_seed(),
                    .started_at = utc_now()};
  add_machine(journal, machine);
  selftest.id = begin_selftest(journal, selftest);
  return selftest;
}

// Something on the machine may disturb a round in hours; what fails again and again is no accident.
void note_failure(Run& run, const StudiedKernel& studied, const std::string& sentence) {
  run.result.remarks.push_back("one judgement of " + studied.what.configuration.label() +
                               " did not finish: " + sentence);
  if (++run.failures > 3 + run.trials / 50) {
    throw EnvironmentError("the selftest cannot go on: " + sentence);
  }
}

void note_judgement(SelftestComparison& comparison, const Experiment& experiment, const EvaluatePlan& plan) {
  const Judgement& judgement = *experiment.judgement;
  comparison.workload = experiment.workloads.front();
  comparison.random_layout = plan.rounds.layout == Layout::random;
  comparison.verdict = judgement.verdict;
  comparison.reason = judgement.reason;
  comparison.effect = judgement.effect;
  comparison.lower = judgement.lower;
  comparison.upper = judgement.upper;
  comparison.rounds = judgement.rounds;
  comparison.processes = judgement.processes;
  comparison.seconds = judgement.seconds;
  comparison.sentence = judgement.sentence;
  for (const Round& round : experiment.rounds) {
    const RoundWorkload& workload = round.workloads.front();
    comparison.samples = {.calls = workload.repetitions,
                          .blocks = static_cast<int>(workload.blocks.size()),
                          .several_cpus = round.environment.several_cpus.value_or(false)};
    if (round.void_why.empty()) {
      comparison.effects.push_back(round.effect);
    }
  }
}

// One judgement by the judge that compares; false when it did not finish.
bool judge(Run& run, StudiedKernel& studied, SelftestComparison comparison, const EvaluatePlan& given) {
  EvaluatePlan plan = given;
  plan.comparison_tag = fmt::format("{} {}", to_string(comparison.kind), run.trials);
  Experiment experiment{.id = run.trials++ / kShareInputs,
                        .index = 1,
                        .family = studied.what.family->name,
                        .workloads = {studied.what.workload->name},
                        .candidate = comparison.candidate,
                        .incumbent = comparison.incumbent};
  SilentObserver silent;
  evaluate(studied.runtime, experiment, plan, silent);
  if (experiment.outcome != Outcome::valid) {
    note_failure(run, studied, experiment.judgement->sentence);
    return false;
  }
  note_judgement(comparison, experiment, plan);
  run.processes += comparison.processes;
  add_selftest_comparison(run.journal, run.result.selftest.id, comparison);
  if (comparison.kind == SelftestKind::aa && comparison.rounds > 0) {
    studied.apparent.push_back(comparison.effect);
    studied.variances.push_back(std::pow(standard_deviation(comparison.effects), 2));
  }
  run.result.comparisons.push_back(std::move(comparison));
  return true;
}

struct PlannedComparison {
  StudiedKernel& studied;
  SelftestComparison comparison;
  EvaluatePlan plan;
  std::string what;
};

// A part of the selftest: what `next` plans for 0, 1, 2, ... until the time is up, or as many have finished as are
// wanted (0: no number is). One is always judged.
void run_part(Run& run, double until_s, int wanted, const std::function<PlannedComparison(std::size_t)>& next) {
  int done = 0;
  for (std::size_t tried = 0;; ++tried) {
    const double left = wanted > 0 ? 0 : std::max(0.0, until_s - seconds_since(run.started));
    const bool enough_rounds = run.request.rounds > 0 && run.processes >= run.request.rounds;
    if (done > 0 && (enough_rounds || (wanted > 0 ? done >= wanted : left <= 0))) {
      return;
    }
    const PlannedComparison planned = next(tried);
    run.observer.progress({.what = planned.what, .done = done, .expected = wanted, .seconds_left = left});
    done += judge(run, planned.studied, planned.comparison, planned.plan) ? 1 : 0;
  }
}

void compare_same_code(Run& run, double until_s) {
  run_part(run, until_s, run.request.comparisons, [&](std::size_t number) -> PlannedComparison {
    StudiedKernel& studied = run.kernels[number % run.kernels.size()];
    const Configuration& same = studied.what.configuration;
    return {studied, {.incumbent = same, .candidate = same}, studied.plan, "identical code: " + same.label()};
  });
}

void compare_known_pairs(Run& run, double until_s) {
  std::vector<PlannedComparison> known;
  for (StudiedKernel& studied : run.kernels) {
    for (const SelftestComparison& pair : known_pairs(studied.what, run.request.differences)) {
      known.push_back({studied, pair, studied.plan, "known difference of " + format_percent(pair.truth)});
    }
  }
  if (known.empty()) {
    run.result.remarks.emplace_back(
        "no spin among the kernels has such a difference, so no pair of known difference was judged");
    return;
  }
  run_part(run, until_s, 0, [&](std::size_t number) { return known[number % known.size()]; });
}

// Every part that is asked for gets its share of the time that the studies left.
void compare_parts(Run& run) {
  const SelftestRequest& request = run.request;
  const double begin = seconds_since(run.started);
  const double left = std::max(0.0, request.seconds - begin);
  if (request.same_code) {
    compare_same_code(run, begin + (request.known_pairs ? 0.6 : 1) * left);
  }
  if (request.known_pairs) {
    compare_known_pairs(run, begin + left);
  }
}

}  // namespace

SelftestResult run_selftest(Workspace& workspace, const SelftestRequest& request, Observer& observer) {
  const auto started = Clock::now();
  workspace.use(request.target);
  SelftestResult result{.selftest = {}, .machine = workspace.machine(), .comparisons = {}, .remarks = {}};
  static_cast<void>(asked_preset(request.judge_preset));  // throws before anything is measured
  const std::vector<SelftestSubject> subjects =
      selftest_subjects(workspace, request.target, request.kernels, result.remarks);
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  Selftest& selftest = result.selftest;
  selftest = begin_selftest(workspace.machine(), request, journal);
  std::vector<StudiedKernel> kernels;
  for (const SelftestSubject& what : subjects) {
    kernels.push_back(study_kernel(workspace, request, what, selftest.seed, observer, result.remarks));
  }
  Run run{request, journal, observer, started, kernels, result};
  compare_parts(run);
  std::vector<double> claims;
  for (const StudiedKernel& studied : kernels) {
    selftest.kernels.push_back(conclude(studied, request));
    claims.push_back(selftest.kernels.back().smallest_claim);
  }
  selftest.smallest_claim = median(claims);
  selftest.seconds = seconds_since(started);
  selftest.ended_at = utc_now();
  finish_selftest(journal, selftest);
  return result;
}

}  // namespace apo
