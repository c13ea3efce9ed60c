// harness/evaluate/plan.cpp - decides which rounds of a plan need a process of their own.
#include "harness/evaluate/plan.h"

namespace apo {

RoundOptions round_options(const EvaluatePlan& plan, const std::vector<TimedWorkload>& timed) {
  RoundOptions options = plan.rounds;
  if (timed.size() > 1 || any_host_code(timed)) {
    options.rounds_per_process = 1;
  }
  return options;
}

}  // namespace apo
