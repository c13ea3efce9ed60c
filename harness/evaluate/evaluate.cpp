// harness/evaluate/evaluate.cpp - metadata, build, resources, correctness, sanitizers, timing, confirmation.
#include "harness/evaluate/evaluate.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/interval.h"
#include "harness/core/nvtx.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness.h"
#include "harness/evaluate/judge_round.h"
#include "harness/evaluate/round_turn.h"
#include "harness/evaluate/sanitizer_gate.h"
#include "harness/evaluate/segments.h"
#include "harness/evaluate/signed_rank.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool any_host_code(const std::vector<TimedWorkload>& timed) {
  return std::ranges::any_of(timed, &TimedWorkload::has_host_code);
}

// Rounds share processes as the plan says, except where several workloads take turns in a round, and where host code
// could keep in a process what it learns in one.
RoundOptions options_of(const EvaluatePlan& plan, const std::vector<TimedWorkload>& timed) {
  RoundOptions options = plan.rounds;
  if (timed.size() > 1 || any_host_code(timed)) {
    options.rounds_per_process = 1;
  }
  return options;
}

// Carries one experiment through its gates; each gate returns false when the experiment ends with it.
class Evaluation {
 public:
  Evaluation(const Lab& lab, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks)
      : lab_(lab), experiment_(experiment), plan_(plan), hooks_(hooks) {}

  void run() {
    const StageRange range("evaluate " + experiment_.candidate.label());
    const auto start = Clock::now();
    const bool timed = metadata_gate() && build_gate() && resource_gate() && correctness_gates();
    if (timed) {
      time();
    } else {
      Judgement judgement{.verdict = Verdict::reverted, .reason = Reason::gate_failed};
      const GateResult& last = experiment_.gates.back();
      judgement.sentence =
          "Not timed: " + std::string(to_string(last.outcome)) + " at the gate '" + last.gate + "': " + last.evidence;
      judgement.rule_version = kRuleVersion;
      experiment_.judgement = judgement;
    }
    experiment_.judgement->seconds = seconds_since(start);
    experiment_.finished_at = utc_now();
  }

 private:
  bool pass(GateResult gate) {
    const bool passed = gate.outcome == Outcome::valid;
    experiment_.outcome = gate.outcome;
    if (hooks_.on_gate) {
      hooks_.on_gate(gate);
    }
    experiment_.gates.push_back(std::move(gate));
    return passed;
  }

  void progress(const std::string& what, int done, int expected, double seconds_left = 0) {
    if (hooks_.on_progress) {
      hooks_.on_progress(what, done, expected, seconds_left);
    }
  }

  bool metadata_gate() {
    const StageRange range("gate metadata");
    const auto start = Clock::now();
    GateResult gate{.gate = "metadata", .evidence = "apo:requires holds on every workload"};
    for (const Workload* workload : plan_.workloads) {
      if (const std::string why = lab_.unsupported(experiment_.candidate, workload->axes); !why.empty()) {
        gate.outcome = Outcome::refused;
        gate.evidence = workload->name + ": " + why;
        break;
      }
    }
    gate.seconds = seconds_since(start);
    return pass(std::move(gate));
  }

  bool build_gate() {
    const StageRange range("implement");
    GateResult gate{.gate = "build"};
    for (const Workload* workload : plan_.workloads) {
      progress("build " + experiment_.candidate.label(), 0, 0);
      TimedWorkload timed{.name = workload->name, .axes = workload->axes};
      timed.incumbent = {experiment_.incumbent, lab_.build(experiment_.incumbent, workload->axes, false)};
      if (timed.incumbent.build.outcome != Outcome::valid) {
        throw EnvironmentError("the incumbent " + experiment_.incumbent.label() + " does not build any more",
                               timed.incumbent.build.evidence);
      }
      timed.candidate = {experiment_.candidate, lab_.build(experiment_.candidate, workload->axes, false)};
      gate.seconds += timed.candidate.build.seconds;
      const bool failed = timed.candidate.build.outcome != Outcome::valid;
      if (timed_.empty() || failed) {
        experiment_.incumbent_build = timed.incumbent.build;
        experiment_.candidate_build = timed.candidate.build;
      }
      if (failed) {
        gate.outcome = timed.candidate.build.outcome;
        gate.evidence = workload->name + ": " + timed.candidate.build.evidence;
        break;
      }
      if (const auto floor = plan_.floor_ns.find(workload->name); floor != plan_.floor_ns.end()) {
        timed.floor_ns = floor->second;
      }
      timed_.push_back(std::move(timed));
    }
    if (hooks_.on_build) {
      hooks_.on_build(experiment_.candidate_build, true);
      hooks_.on_build(experiment_.incumbent_build, false);
    }
    if (gate.outcome == Outcome::valid) {
      gate.evidence = experiment_.candidate_build.toolchain.version +
                      (experiment_.candidate_build.from_cache ? ", from the cache" : "");
    }
    return pass(std::move(gate));
  }

  bool resource_gate() {
    const StageRange range("gate resources");
    const auto start = Clock::now();
    const bool same = !plan_.time_same_code && guard_is_on(Guard::same_code) &&
                      std::all_of(timed_.begin(), timed_.end(), [](const TimedWorkload& timed) {
                        return timed.incumbent.build.code_hash == timed.candidate.build.code_hash;
                      });
    GateResult gate{.gate = "resources"};
    std::vector<std::string> parts;
    for (const auto& [name, value] : experiment_.candidate_build.resources) {
      parts.push_back(name + " " + std::to_string(value));
    }
    gate.evidence = same ? "machine code identical to the incumbent's: nothing to time" : join(parts, ", ");
    gate.outcome = same ? Outcome::no_change : Outcome::valid;
    gate.seconds = seconds_since(start);
    return pass(std::move(gate));
  }

  bool correctness_gates() {
    if (plan_.trusted) {
      return true;
    }
    const std::uint64_t seed = derive_seed(plan_.seed, "correctness", static_cast<std::uint64_t>(experiment_.id));
    std::vector<std::string> names;
    for (const Workload* workload : plan_.workloads) {
      names.push_back(workload->name);
    }
    const std::uint64_t group = inputs_group(*lab_.family, plan_.workloads.front()->axes, experiment_.id);
    const auto cases = correctness_plan(*lab_.family, names, seed, derive_seed(plan_.seed, "shared", group));
    const auto report = [&](int done, int all, const std::string& what) {
      progress("verify " + experiment_.candidate.label() + " on " + what, done, all);
    };
    std::optional<SanitizerCheck> sanitizers;
    if (plan_.sanitize) {
      sanitizers.emplace(lab_, experiment_.candidate, cases, seed);
    }
    {
      const StageRange range("gate correctness");
      if (!pass(correctness_gate(lab_, experiment_.candidate, cases, seed, report))) {
        return false;
      }
    }
    if (!sanitizers) {
      return true;
    }
    const StageRange range("gate sanitizers");
    progress("sanitizers " + experiment_.candidate.label(), 0, 0);
    return pass(sanitizers->run());
  }

  void time() {
    const StageRange range("gate timing");
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      const Workload& workload = *plan_.workloads[i];
      const std::uint64_t group = inputs_group(*lab_.family, workload.axes, experiment_.id);
      const StageRange drawing("inputs of " + workload.name);
      progress("inputs of " + workload.name, 0, 0);
      timed_[i].pool = make_pool(lab_, workload, derive_seed(plan_.seed, "pool", group));
    }
    const std::string comparison = std::to_string(experiment_.id) + " " + experiment_.incumbent.label() + " " +
                                   experiment_.candidate.label() + (plan_.trial.empty() ? "" : " " + plan_.trial);
    const RoundOptions options = options_of(plan_, timed_);
    RoundRunner runner(lab_, std::move(timed_), plan_.profile, plan_.seed, comparison, plan_.cache, options);
    Judge judge({.profile = plan_.profile,
                 .index = plan_.index,
                 .cache_policy = plan_.cache == CachePolicy::cold ? "cold" : "warm",
                 .confirm_rounds = plan_.confirm_rounds});
    const auto start = Clock::now();
    std::map<std::string, double> seconds;  // by stage, pauses included, waits for other processes not
    double waited_s = 0;
    for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
      const auto step_start = Clock::now();
      if (step.pause_s > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(step.pause_s));
      }
      report_round(judge, step, seconds_since(start));
      const double waited_before_s = waited_s;
      auto round = run_in_turn(lab_, runner, step.stage, step.index, hooks_, waited_s);
      seconds[step.stage] += seconds_since(step_start) - (waited_s - waited_before_s);
      if (!round) {
        fail_timing(judge, round.failure(), seconds_since(start) - waited_s);
        return;
      }
      const Round& recorded = judge.add(*round);
      experiment_.rounds.push_back(recorded);
      if (hooks_.on_round) {
        hooks_.on_round(recorded);
      }
    }
    experiment_.judgement = judge.judgement();
    pass_timing_gates(runner.second_clock(), seconds);
  }

  void report_round(const Judge& judge, const NextStep& step, double seconds) {
    const auto done = static_cast<int>(judge.rounds().size());
    const int most = plan_.profile.looks.back().rounds + plan_.profile.confirm_max;
    const double left = done == 0 ? 0 : seconds / done * std::max(0, most - done);
    progress(step.stage + " " + experiment_.candidate.label() + " against " + experiment_.incumbent.label(), done, most,
             left);
  }

  // A candidate that misbehaves only when it is timed. The incumbent's own failure is no verdict on the candidate.
  void fail_timing(const Judge& judge, const Failure& failure, double seconds) {
    Judgement judgement = judge.judgement();
    const bool candidate = failure.slot != 0;
    judgement.verdict = candidate ? Verdict::reverted : Verdict::inconclusive;
    judgement.reason = candidate ? Reason::gate_failed : Reason::interrupted;
    judgement.sentence = std::string(candidate ? "The candidate" : "The incumbent") +
                         " failed while it was timed: " + std::string(to_string(failure.outcome)) + ", " +
                         failure.evidence;
    pass({.gate = "timing", .outcome = failure.outcome, .evidence = judgement.sentence, .seconds = seconds});
    experiment_.judgement = judgement;
  }

  void pass_search_gate(std::ptrdiff_t rounds, const std::string& second_clock, double seconds) {
    pass({.gate = "timing",
          .evidence = std::to_string(rounds) + " rounds in " +
                      (processes_of(experiment_.rounds) < std::ssize(experiment_.rounds) ? "shared" : "fresh") +
                      " processes, search estimate " + format_effect(experiment_.judgement->search_effect) +
                      (second_clock.empty() ? "" : "; " + second_clock),
          .seconds = seconds});
  }

  void pass_timing_gates(const std::string& second_clock, std::map<std::string, double>& seconds) {
    const Judgement& judgement = *experiment_.judgement;
    const auto count = [&](const char* stage) {
      return std::count_if(experiment_.rounds.begin(), experiment_.rounds.end(),
                           [&](const Round& round) { return round.stage == stage; });
    };
    if (count("search") > 0) {
      pass_search_gate(count("search"), second_clock, seconds["search"]);
    }
    if (count("confirm") > 0) {
      pass({.gate = "confirmation",
            .evidence = std::to_string(count("confirm")) + " more rounds, " + format_effect(judgement.effect) + " [" +
                        format_effect(judgement.lower) + ", " + format_effect(judgement.upper) + "]",
            .seconds = seconds["confirm"]});
    }
  }

  const Lab& lab_;
  Experiment& experiment_;
  const EvaluatePlan& plan_;
  const EvaluateHooks& hooks_;
  std::vector<TimedWorkload> timed_;
};

std::vector<TimedWorkload> build_pair(const Lab& lab, const Configuration& incumbent, const Configuration& candidate,
                                      const EvaluatePlan& plan, std::uint64_t seed) {
  std::vector<TimedWorkload> pairs;
  for (const Workload* workload : plan.workloads) {
    TimedWorkload timed{.name = workload->name, .axes = workload->axes};
    timed.incumbent = {incumbent, lab.build(incumbent, workload->axes, false)};
    timed.candidate = {candidate, lab.build(candidate, workload->axes, false)};
    for (const TimedArm* arm : {&timed.incumbent, &timed.candidate}) {
      if (arm->build.outcome != Outcome::valid) {
        throw EnvironmentError(arm->configuration.label() + " does not build any more", arm->build.evidence);
      }
    }
    const bool shared = shares_inputs(*lab.family, workload->axes);
    timed.pool = make_pool(lab, *workload, shared ? derive_seed(plan.seed, "pool", 0) : seed);
    pairs.push_back(std::move(timed));
  }
  return pairs;
}

// `wanted` rounds that count; void ones are run again, as far as the profile allows.
std::vector<Round> run_rounds(const Lab& lab, RoundRunner& runner, const std::string& stage, int wanted,
                              const JudgeProfile& profile, const EvaluateHooks& hooks, const std::string& what,
                              double& waited_s) {
  std::vector<Round> rounds;
  int counted = 0;
  const auto most = static_cast<int>((1 + profile.void_fraction) * wanted);
  const auto start = Clock::now();
  for (int index = 0; counted < wanted; ++index) {
    if (index > most) {
      throw EnvironmentError("more than " + std::to_string(most - wanted) + " rounds of the " + stage +
                                 " were void: this machine is too noisy to judge on",
                             "stop other work on it and run again");
    }
    if (hooks.on_progress) {
      hooks.on_progress(what, counted, wanted, index == 0 ? 0 : seconds_since(start) / index * (wanted - counted));
    }
    auto result = run_in_turn(lab, runner, stage, index, hooks, waited_s);
    if (!result) {
      throw EnvironmentError("the " + stage + " could not run: " + result.failure().evidence);
    }
    Round round = *result;
    round.void_why = void_reason(round, busy_seconds(rounds), profile);
    summarise_round(round);
    counted += round.void_why.empty() ? 1 : 0;
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<double> counted_effects(const std::vector<Round>& rounds) {
  std::vector<double> effects;
  for (const Round& round : rounds) {
    if (round.void_why.empty()) {
      effects.push_back(round.effect);
    }
  }
  return effects;
}

}  // namespace

void evaluate(const Lab& lab, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks) {
  Evaluation(lab, experiment, plan, hooks).run();
}

SentinelResult run_sentinel(const Lab& lab, const Configuration& configuration, const EvaluatePlan& plan, int index,
                            const std::vector<double>& earlier_effects, const EvaluateHooks& hooks) {
  const auto start = Clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "sentinel", static_cast<std::uint64_t>(index));
  std::vector<TimedWorkload> timed = build_pair(lab, configuration, configuration, plan, seed);
  const RoundOptions options = options_of(plan, timed);
  RoundRunner runner(lab, std::move(timed), plan.profile, seed, configuration.label(), plan.cache, options);
  SentinelResult result;
  double waited_s = 0;
  result.rounds = run_rounds(lab, runner, "sentinel", kSentinelRounds, plan.profile, hooks,
                             "A/A sentinel " + configuration.label(), waited_s);
  const std::vector<double> effects = counted_effects(result.rounds);
  result.check = check_sentinel(effects, earlier_effects, plan.profile);
  const WalshAverages walsh(effects);
  result.lower = walsh.lower(plan.profile.interval_alpha);
  result.upper = walsh.upper(plan.profile.interval_alpha);
  result.seconds = seconds_since(start) - waited_s;
  return result;
}

std::vector<Round> run_noise_study(const Lab& lab, const Configuration& configuration, const EvaluatePlan& plan,
                                   int index, const NoiseDesign& design, int processes, const EvaluateHooks& hooks) {
  const std::uint64_t seed = derive_seed(plan.seed, "noise", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = design.rounds_per_process();
  options.rounds_per_layout = design.rounds_per_layout;
  RoundRunner runner(lab, build_pair(lab, configuration, configuration, plan, seed), plan.profile, seed,
                     configuration.label(), plan.cache, options);
  std::vector<Round> rounds;
  const int wanted = processes * design.rounds_per_process();
  for (int round = 0; round < wanted; ++round) {
    if (hooks.on_progress) {
      hooks.on_progress("noise of " + configuration.label(), round, wanted, 0);
    }
    double waited_s = 0;
    auto result = run_in_turn(lab, runner, "noise", round, hooks, waited_s);
    if (!result) {
      throw EnvironmentError("the noise of " + configuration.label() +
                             " cannot be measured: " + result.failure().evidence);
    }
    rounds.push_back(*result);
    rounds.back().void_why = void_reason(rounds.back(), {}, plan.profile);
    summarise_round(rounds.back());
  }
  return rounds;
}

CertificationResult run_certification(const Lab& lab, const Configuration& champion, const Configuration& baseline,
                                      double claimed_effect, const EvaluatePlan& plan, int index,
                                      const EvaluateHooks& hooks) {
  const auto start = Clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "certify", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = 1;  // what is published owes nothing to a process that was shared
  const std::vector<TimedWorkload> pairs = build_pair(lab, baseline, champion, plan, seed);
  SegmentPlan alone{.coins = {.campaign_seed = seed, .comparison = champion.label()},
                    .profile = plan.profile,
                    .cache = plan.cache,
                    .rounds = options,
                    .segment_s = plan.segment_s};
  CertificationResult result;
  const bool cold = plan.cache == CachePolicy::cold;
  const std::string what =
      std::string("certify ") + (cold ? "cold " : "warm ") + champion.label() + " against " + baseline.label();
  double waited_s = 0;
  {
    RoundRunner runner(lab, pairs, plan.profile, seed, champion.label(), plan.cache, options);
    result.rounds = run_rounds(lab, runner, "certify", kCertificationRounds, plan.profile, hooks, what, waited_s);
    alone.repetitions = runner.repetitions();
  }
  std::vector<Round> counted;
  std::copy_if(result.rounds.begin(), result.rounds.end(), std::back_inserter(counted),
               [](const Round& round) { return round.void_why.empty(); });
  result.certification = certify(counted, claimed_effect);
  if (plan.segment_s > 0) {
    SegmentsResult segments = run_segments(lab, pairs, alone, what + ", each alone", hooks, waited_s);
    result.segments = std::move(segments.segments);
    result.certification.clock = segments.clock;
    // Host code shares a process with what reads the clock, and knows when it runs alone: that may only lower a claim.
    if (any_host_code(pairs) && segments.clock.time_effect > result.certification.effect) {
      result.certification.clock->coupled = false;
    }
  }
  result.certification.champion = champion;
  result.certification.baseline = baseline;
  result.certification.cache_policy = cold ? "cold" : "warm";
  result.certification.seconds = seconds_since(start) - waited_s;
  result.certification.at = utc_now();
  return result;
}

}  // namespace apo
