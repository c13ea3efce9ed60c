// harness/evaluate/timing_gate.cpp - round by round as the judge asks for them, and what the gates say in the end.
#include "harness/evaluate/timing_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/evaluate/rounds/turn.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

class Timing {
 public:
  Timing(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks)
      : runtime_(runtime), experiment_(experiment), plan_(plan), hooks_(hooks) {}

  void run(std::vector<TimedWorkload> timed) {
    const std::string comparison = std::to_string(experiment_.id) + " " + experiment_.incumbent.label() + " " +
                                   experiment_.candidate.label() + (plan_.trial.empty() ? "" : " " + plan_.trial);
    const RoundOptions options = round_options(plan_, timed);
    RoundRunner runner(runtime_, std::move(timed), plan_.preset, plan_.seed, comparison, plan_.cache, options);
    Judge judge({.preset = plan_.preset,
                 .index = plan_.index,
                 .cache_policy = plan_.cache,
                 .confirm_rounds = plan_.confirm_rounds});
    const auto start = Clock::now();
    std::map<RoundStage, double> seconds;  // by stage, pauses included, waits for other processes not
    double waited_s = 0;
    for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
      const auto step_start = Clock::now();
      if (step.pause_s > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(step.pause_s));
      }
      report_round(judge, step, seconds_since(start));
      const double waited_before_s = waited_s;
      auto round = run_in_turn(runtime_, runner, step.stage, step.index, hooks_, waited_s);
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

 private:
  void pass(GateResult gate) { add_gate(experiment_, hooks_, std::move(gate)); }

  void report_round(const Judge& judge, const NextStep& step, double seconds) {
    const auto done = static_cast<int>(judge.rounds().size());
    const int most = plan_.preset.looks.back().rounds + plan_.preset.confirm_max;
    const double left = done == 0 ? 0 : seconds / done * std::max(0, most - done);
    tell_progress(hooks_,
                  fmt::format("{} {} against {}", to_string(step.stage), experiment_.candidate.label(),
                              experiment_.incumbent.label()),
                  done, most, left);
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

  void pass_timing_gates(const std::string& second_clock, std::map<RoundStage, double>& seconds) {
    const Judgement& judgement = *experiment_.judgement;
    const auto count = [&](RoundStage stage) {
      return std::count_if(experiment_.rounds.begin(), experiment_.rounds.end(),
                           [&](const Round& round) { return round.stage == stage; });
    };
    if (count(RoundStage::search) > 0) {
      pass_search_gate(count(RoundStage::search), second_clock, seconds[RoundStage::search]);
    }
    if (count(RoundStage::confirm) > 0) {
      pass({.gate = "confirmation",
            .evidence = std::to_string(count(RoundStage::confirm)) + " more rounds, " +
                        format_effect(judgement.effect) + " [" + format_effect(judgement.lower) + ", " +
                        format_effect(judgement.upper) + "]",
            .seconds = seconds[RoundStage::confirm]});
    }
  }

  const Runtime& runtime_;
  Experiment& experiment_;
  const EvaluatePlan& plan_;
  const EvaluateHooks& hooks_;
};

}  // namespace

void time_experiment(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan,
                     const EvaluateHooks& hooks, std::vector<TimedWorkload> timed) {
  Timing(runtime, experiment, plan, hooks).run(std::move(timed));
}

}  // namespace apo
