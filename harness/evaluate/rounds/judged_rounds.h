// harness/evaluate/rounds/judged_rounds.h - runs the rounds that a judge asks for, wherever they come from.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/rounds/round_source.h"

namespace apo {

// Pauses included, waits for other processes not.
struct Spent {
  double seconds = 0;
  std::map<RoundStage, double> by_stage;
};

struct JudgedRounds {
  RoundSource source;
  std::string what;  // "B against A", for the progress
  const JudgePreset& preset;
  Observer& observer;
  std::function<void(const Round&)> on_round;  // as the judge recorded it, at once
  double budget_s = 0;                         // the judge gives up once this is spent; 0: none
};

// Runs rounds until the judge has finished; returns the failure of a round.
std::optional<Failure> run_judged_rounds(Judge& judge, const JudgedRounds& plan, Spent& spent);

}  // namespace apo
