// harness/evaluate/regression_gate.cpp - the gates that cost little, then rounds, look by look.
#include "harness/evaluate/regression_gate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/turn.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

std::string slower_by(double margin) {
  return format_g(100 * std::expm1(margin), 3) + " %";
}

class RegressionGate {
 public:
  RegressionGate(const Runtime& runtime, const Configuration& baseline, const Configuration& candidate,
                 const EvaluatePlan& plan, const GateRule& rule, const EvaluateHooks& hooks)
      : runtime_(runtime), baseline_(baseline), candidate_(candidate), plan_(plan), rule_(rule), hooks_(hooks) {}

  RegressionResult run() {
    const auto start = Clock::now();
    if (metadata_gate() && build_gate() && correctness() && !same_code_) {
      time();
    }
    result_.seconds = seconds_since(start);
    return std::move(result_);
  }

 private:
  bool pass(GateResult gate) {
    const bool passed = gate.outcome == Outcome::valid;
    if (!passed) {
      result_.verdict = GateVerdict::failed;
      result_.sentence = std::string(to_string(gate.outcome)) + " at the gate '" + gate.gate + "': " + gate.evidence;
    }
    result_.gates.push_back(std::move(gate));
    return passed;
  }

  void progress(const std::string& what, int done, int expected, double seconds_left = 0) {
    tell_progress(hooks_, what, done, expected, seconds_left);
  }

  bool metadata_gate() {
    GateResult gate{.gate = "metadata", .evidence = "apo:requires holds on every workload"};
    for (const Workload* workload : plan_.workloads) {
      if (const std::string why = runtime_.unsupported(baseline_, workload->axes); !why.empty()) {
        throw EnvironmentError("the stored " + baseline_.label() + " does not support " + workload->name +
                               " here: " + why);
      }
      if (const std::string why = runtime_.unsupported(candidate_, workload->axes); !why.empty()) {
        gate.outcome = Outcome::refused;
        gate.evidence = workload->name + ": " + why;
        break;
      }
    }
    return pass(std::move(gate));
  }

  bool build_gate() {
    GateResult gate{.gate = "build"};
    same_code_ = true;
    for (const Workload* workload : plan_.workloads) {
      progress("build " + candidate_.label(), 0, 0);
      TimedWorkload timed{.name = workload->name, .axes = workload->axes};
      timed.incumbent = {baseline_, runtime_.build(baseline_, workload->axes, false)};
      if (timed.incumbent.build.outcome != Outcome::valid) {
        throw EnvironmentError("the stored " + baseline_.label() + " does not build here",
                               timed.incumbent.build.evidence);
      }
      timed.candidate = {candidate_, runtime_.build(candidate_, workload->axes, false)};
      gate.seconds += timed.candidate.build.seconds;
      if (timed.candidate.build.outcome != Outcome::valid) {
        gate.outcome = timed.candidate.build.outcome;
        gate.evidence = workload->name + ": " + timed.candidate.build.evidence;
        return pass(std::move(gate));
      }
      gate.evidence = timed.candidate.build.toolchain.version;
      same_code_ = same_code_ && timed.candidate.build.code_hash == timed.incumbent.build.code_hash;
      timed_.push_back(std::move(timed));
    }
    if (same_code_) {
      result_.verdict = GateVerdict::passed;
      result_.sentence = "machine code identical to the baseline's: nothing to time";
    }
    return pass(std::move(gate));
  }

  bool correctness() {
    if (same_code_) {
      return true;
    }
    std::vector<std::string> names;
    for (const Workload* workload : plan_.workloads) {
      names.push_back(workload->name);
    }
    const std::uint64_t seed = derive_seed(plan_.seed, "gate correctness");
    const auto report = [&](int done, int all, const std::string& what) {
      progress("verify " + candidate_.label() + " on " + what, done, all);
    };
    return pass(
        correctness_gate(runtime_, candidate_, correctness_plan(runtime_, candidate_, names, seed), seed, report));
  }

  void time() {
    for (std::size_t i = 0; i < timed_.size(); ++i) {
      progress("inputs of " + timed_[i].name, 0, 0);
      timed_[i].pool = make_pool(runtime_, *plan_.workloads[i], derive_seed(plan_.seed, "gate pool"));
    }
    effects_.resize(timed_.size());
    RoundRunner runner(runtime_, std::move(timed_), plan_.preset, plan_.seed, "gate " + candidate_.label(), plan_.cache,
                       plan_.rounds);
    result_.state = gate_state(rule_, effects_);
    const auto start = Clock::now();
    double waited_s = 0;
    for (int index = 0; !result_.state.finished; ++index) {
      const auto done = static_cast<int>(effects_.front().size());
      const double seconds = seconds_since(start);
      const int most = rule_.looks.back().rounds;
      progress("gate " + candidate_.label(), done, most, done == 0 ? 0 : seconds / done * (most - done));
      auto round = run_in_turn(runtime_, runner, RoundStage::gate, index, hooks_, waited_s);
      if (!round) {
        fail_timing(round.failure());
        return;
      }
      add(std::move(*round));
      if (too_many_void()) {
        return;
      }
      result_.state = gate_state(rule_, effects_);
    }
    conclude(seconds_since(start) - waited_s);
  }

  void add(Round round) {
    round.void_why = void_reason(round, busy_seconds(result_.rounds), plan_.preset);
    summarise_round(round);
    if (round.void_why.empty()) {
      for (std::size_t w = 0; w < effects_.size(); ++w) {
        effects_[w].push_back(round.workloads[w].effect);
      }
    }
    if (hooks_.on_round) {
      hooks_.on_round(round);
    }
    result_.rounds.push_back(std::move(round));
  }

  bool too_many_void() {
    const auto voids = std::count_if(result_.rounds.begin(), result_.rounds.end(),
                                     [](const Round& round) { return !round.void_why.empty(); });
    const int planned = static_cast<int>(std::ssize(effects_.front())) + result_.state.rounds_wanted;
    if (static_cast<double>(voids) <= plan_.preset.void_fraction * planned) {
      return false;
    }
    result_.state = gate_state(rule_, effects_);
    result_.verdict = GateVerdict::undecided;
    result_.sentence = std::to_string(voids) + " of " + std::to_string(result_.rounds.size()) +
                       " rounds were void: this machine is too noisy to judge on";
    return true;
  }

  void fail_timing(const Failure& failure) {
    const std::string what = std::string(to_string(failure.outcome)) + ", " + failure.evidence;
    if (failure.slot == 0) {
      throw EnvironmentError("the stored " + baseline_.label() + " failed while it was timed: " + what);
    }
    pass({.gate = "timing", .outcome = failure.outcome, .evidence = what});
  }

  void conclude(double seconds) {
    const std::string margin = slower_by(rule_.margin);
    switch (result_.state.answer) {
      case GateAnswer::passed:
        result_.verdict = GateVerdict::passed;
        result_.sentence = "not slower by more than " + margin;
        break;
      case GateAnswer::regressed:
        result_.verdict = GateVerdict::regressed;
        result_.sentence = "slower by more than " + margin;
        break;
      case GateAnswer::undecided:
        result_.verdict = GateVerdict::undecided;
        result_.sentence = "this machine cannot tell with a margin of " + margin + ": after " +
                           std::to_string(effects_.front().size()) + " rounds it resolves " + slower_by(resolved());
        break;
    }
    pass({.gate = "timing",
          .evidence = std::to_string(result_.rounds.size()) + " rounds in " +
                      std::to_string(processes_of(result_.rounds)) + " processes; " + result_.sentence,
          .seconds = seconds});
  }

  // The widest distance from an estimate to its lower bound: a variant as fast as its baseline would pass with it.
  double resolved() const {
    double widest = 0;
    for (const WorkloadAnswer& workload : result_.state.workloads) {
      widest = std::max(widest, workload.effect - workload.lower);
    }
    return widest;
  }

  const Runtime& runtime_;
  const Configuration& baseline_;
  const Configuration& candidate_;
  const EvaluatePlan& plan_;
  const GateRule& rule_;
  const EvaluateHooks& hooks_;
  std::vector<TimedWorkload> timed_;
  std::vector<std::vector<double>> effects_;  // by workload, of the rounds that count
  bool same_code_ = false;
  RegressionResult result_;
};

}  // namespace

RegressionResult run_regression_gate(const Runtime& runtime, const Configuration& baseline,
                                     const Configuration& candidate, const EvaluatePlan& plan, const GateRule& rule,
                                     const EvaluateHooks& hooks) {
  return RegressionGate(runtime, baseline, candidate, plan, rule, hooks).run();
}

std::string_view to_string(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::passed:
      return "passed";
    case GateVerdict::regressed:
      return "regressed";
    case GateVerdict::failed:
      return "failed";
    case GateVerdict::undecided:
      break;
  }
  return "undecided";
}

}  // namespace apo
