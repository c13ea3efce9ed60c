// harness/evaluate/judge/gate/gate_decision.h - the regression test: takes round effects and returns pass, fail or
// undecided.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// Settings fixed before the first round. Effects are natural logs of time(baseline) / time(now): below 0 is slower.
struct GateRule {
  double margin = 0;        // > 0: log1p(0.02) allows 2 % more time
  std::vector<Look> looks;  // each with its one-sided level

  // The sum of the looks' levels. By the union bound it limits both errors: calling a regression that is not slower by
  // more than the margin, and passing a workload that is.
  double alpha() const;
};

enum class GateAnswer : std::uint8_t { undecided, passed, regressed };
GateVerdict verdict_of(GateAnswer answer);

// The state of one workload at the look that decided it, else at its last look.
struct WorkloadAnswer {
  GateAnswer answer = GateAnswer::undecided;
  int rounds = 0;     // of that look; 0 before the first
  double effect = 0;  // Hodges-Lehmann
  double lower = 0;   // at the look's level: passed when it is above -margin
  double upper = 0;   // at the look's level over the number of workloads: regressed when it is below -margin
};

// Regressed as soon as one workload is; passed when all are.
struct GateState {
  GateAnswer answer = GateAnswer::undecided;
  bool finished = false;
  int rounds_wanted = 0;  // until the next look; 0 when finished
  std::vector<WorkloadAnswer> workloads;
};

// `effects[w]` holds the effects of workload w, one per round, the same rounds for all. A pure function of them: the
// answer of an earlier look stands whatever came later. Every workload has to pass, so passing needs no correction for
// their number; any of them may fail, so failing is tested at level / number.
GateState gate_state(const GateRule& rule, const std::vector<std::vector<double>>& effects);

}  // namespace apo
