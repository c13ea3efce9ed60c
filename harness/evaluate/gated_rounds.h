// harness/evaluate/gated_rounds.h - runs rounds until the rule of the regression gate decides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/gate_decision.h"
#include "harness/evaluate/rounds/round_source.h"

namespace apo {

struct RegressionResult {
  GateVerdict verdict = GateVerdict::undecided;
  std::string sentence;           // for people
  std::vector<GateResult> gates;  // the last one says why, when the verdict is `failed`
  GateState state;                // workloads in the order of the plan; none when nothing was timed
  std::vector<Round> rounds;
  double seconds = 0;
};

struct GatedRounds {
  RoundSource source;
  std::string what;           // for the progress
  std::size_t workloads = 1;  // of a round; a round of two commands has one
  const JudgePreset& preset;
  const GateRule& rule;
  Observer& observer;
  std::string worse = "slower";                     // for the sentence
  std::function<void(const Round&)> on_round = {};  // at once
  double budget_s = 0;                              // undecided once this is spent; 0: none
};

// Fills all but `seconds`; a Failure leaves what was measured until then.
std::optional<Failure> run_gated_rounds(const GatedRounds& plan, RegressionResult& result);

// Records a gate. Returns whether it was passed; if not, the result says where the candidate failed.
bool record_gate(RegressionResult& result, GateResult gate);

}  // namespace apo
