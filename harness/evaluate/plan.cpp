// harness/evaluate/plan.cpp - decides which rounds need a process of their own, and passes gates to their hook.
#include "harness/evaluate/plan.h"

#include <chrono>
#include <utility>

namespace apo {

BackgroundGates::BackgroundGates(Run run) {
  if (run) {
    gates_ = std::async(std::launch::async, [run = std::move(run), stop = stop_.get_token()] { return run(stop); });
  } else {
    std::promise<std::vector<GateResult>> none;
    none.set_value({});
    gates_ = none.get_future();
  }
}

// The future waits for its thread.
BackgroundGates::~BackgroundGates() {
  stop_.request_stop();
}

std::vector<GateResult> BackgroundGates::take(const std::stop_token& stop) {
  const std::stop_callback cancel(stop, [this] { stop_.request_stop(); });
  return gates_.get();
}

RoundOptions round_options(const EvaluatePlan& plan, const std::vector<TimedWorkload>& timed) {
  RoundOptions options = plan.rounds;
  if (timed.size() > 1 || any_host_code(timed)) {
    options.rounds_per_process = 1;
  }
  return options;
}

bool add_gate(const Evaluation& evaluation, GateResult gate) {
  const bool passed = gate.outcome == Outcome::valid;
  evaluation.experiment.outcome = gate.outcome;
  if (evaluation.hooks.on_gate) {
    evaluation.hooks.on_gate(gate);
  }
  evaluation.experiment.gates.push_back(std::move(gate));
  return passed;
}

}  // namespace apo
