// harness/evaluate/judge_pair.h - judges two arms in rounds until a rule has decided, wherever the rounds come from.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/judge/gate/gate_decision.h"
#include "harness/evaluate/judge/gate/suite_decision.h"
#include "harness/evaluate/rounds/round_source.h"

namespace apo {

struct JudgedPair {
  RoundSource source;
  std::string what;                         // "B against A", for the progress
  JudgePlan plan;                           // the rule of a gain
  std::optional<GateRule> regression = {};  // the rule in its place: whether the candidate is worse by a margin
  std::optional<SuiteRule> suite = {};      // or this one: which benchmarks of two commands are worse
  std::size_t workloads = 1;                // of a round of variants
  std::array<std::string, 2> arms = {"The incumbent", "The candidate"};  // in a sentence
  Observer& observer;
  std::function<void(const Round&)> on_round;  // as it is recorded, at once
  double budget_s = 0;                         // the comparison is given up once this is spent; 0: none
};

// The effects of each benchmark of a suite over the rounds that count, until it was no longer run; of a single metric
// its effects.
std::vector<std::vector<double>> suite_effects(const std::vector<Round>& rounds);

// Of a round that failed too: what was measured until then.
struct PairOutcome {
  Judgement judgement;  // of a regression: of the first workload, and a verdict after a failure only; of a suite why it
                        // was given up, and no more
  Outcome outcome = Outcome::valid;        // of the round that failed
  std::optional<WrongElement> wrong = {};  // of the candidate
  std::optional<GateVerdict> gate = {};    // of a regression
  GateState state = {};
  double seconds = 0;  // pauses included, waits for other processes not
  std::map<RoundStage, double> seconds_of = {};
};

PairOutcome judge_pair(const JudgedPair& pair);

// The judgement of a candidate that failed before anything was timed.
Judgement untimed(const std::string& sentence);
// The judgement of a regression in this state, after these rounds.
Judgement regression_judgement(const GateState& state, const GateRule& rule, const JudgePreset& preset,
                               const std::vector<Round>& rounds);

// "slower by more than 2 %"; `worse` is the word for it, `rounds` those that count.
std::string regression_sentence(const GateState& state, double margin, const std::string& worse, std::size_t rounds);

// The preset that a recorded judgement was made under, with the level that its confirmation had, and with claims by the
// rounds where their calls were long; the standard one where it never came to timing.
JudgePreset recorded_preset(const Judgement& judgement, const std::vector<Round>& rounds);

}  // namespace apo
