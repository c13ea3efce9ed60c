// harness/evaluate/plan.h - the plan of an evaluation, gates beside others, and the inputs that all gates share.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/evaluate/judge/gate/gate_decision.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

class BackgroundGates {
 public:
  // Throws Cancelled as soon as it can after a stop, with all its processes ended.
  using Run = std::function<std::vector<GateResult>(const std::stop_token& stop)>;

  // Starts `run` in a thread; an empty one has no gates.
  explicit BackgroundGates(Run run);
  // Cancels running gates and waits for their end.
  ~BackgroundGates();
  BackgroundGates(const BackgroundGates&) = delete;
  BackgroundGates& operator=(const BackgroundGates&) = delete;

  // Waits for the gates, once; throws what `run` throws. A `stop` cancels them.
  std::vector<GateResult> take(const std::stop_token& stop = {});

 private:
  std::stop_source stop_;
  std::future<std::vector<GateResult>> gates_;
};

// What is known of a candidate's code, and of other code of its family, before it is checked.
struct KnownMistakes {
  std::string proof;             // the earlier experiment that proved this code wrong; "": none
  std::vector<CheckCase> cases;  // where code was wrong, which are checked first
};

struct EvaluatePlan {
  std::vector<const Workload*> workloads;
  JudgePreset preset = {};
  int index = 0;  // j: the candidate's place among all that the journal has judged; 0: evaluate_in() counts
  CachePolicy cache = CachePolicy::cold;
  std::uint64_t seed = 0;                       // of the campaign; the comparison's name keeps experiments apart
  bool sanitize = true;                         // run the sanitizer gate
  bool trusted = false;                         // skip correctness and sanitizers: both arms have passed them before
  std::optional<GateRule> regression = {};      // the rule of `apo gate` in place of that of a gain
  int confirm_rounds = 0;                       // > 0: the confirmation stage alone, over so many rounds
  bool time_same_code = false;                  // do not stop at identical machine code: an A/A run
  std::map<std::string, double> floor_ns = {};  // by workload; absent = no floor known
  RoundOptions rounds = {};                     // how rounds are laid out
  double solo_run_s =
      kSoloRunSeconds;              // of a certification: how long each arm runs alone, 24 times a workload; 0: never
  double regimes_s = 20;            // after so long of the reference the gate of all regimes begins no others
  std::string comparison_tag = {};  // keeps comparisons apart that share an experiment's number
  // The family's own: what is accepted is also held against it. Empty where that is left to a certification.
  std::optional<Configuration> baseline = {};
  // Returns the earlier verdict on the same two binaries of the first workload, which are then not timed, or "".
  std::function<std::string(const Build& candidate, const Build& incumbent)> judged_before = {};
  // Asked once the candidate is built. Code that was proven wrong is not timed.
  std::function<KnownMistakes(const Experiment& candidate)> known_mistakes = {};
  // Checks a candidate for a GPU on idle cores of the CPU, and finishes before anything is timed. A candidate that
  // fails before the gate of correctness does not wait for it.
  BackgroundGates::Run check_on_cpu = {};
};

// Lays out rounds of these workloads. They share processes as the plan says, except where several workloads take turns
// in a round and where host code could carry knowledge from one round to the next.
RoundOptions round_options(const EvaluatePlan& plan, const std::vector<TimedWorkload>& timed);

// Receives each fact as soon as it is known, so that a crash loses no finished work.
struct EvaluateHooks {
  std::function<void(const Build&, bool candidate)> on_build;
  std::function<void(const GateResult&)> on_gate;
  std::function<void(const Round&)> on_round;
  // After the gates: the preset of the timing may be chosen now. An exception ends the evaluation.
  std::function<void(EvaluatePlan& plan)> before_timing = {};
};

// The inputs of every gate of one experiment.
struct Evaluation {
  const Runtime& runtime;
  Experiment& experiment;
  const EvaluatePlan& plan;
  Observer& observer;
  EvaluateHooks hooks = {};
};

// Adds a finished gate to the experiment. Returns true when it was passed.
bool add_gate(const Evaluation& evaluation, GateResult gate);

}  // namespace apo
