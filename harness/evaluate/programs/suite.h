// harness/evaluate/programs/suite.h - the benchmarks of two commands: which can be compared, what the recorded rounds
// say of each, and the noise of a command against itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/evaluate/judge_pair.h"
#include "harness/evaluate/programs/command_runner.h"

namespace apo {

// What two first runs report: a figure for each benchmark of either side, in A's order and then B's. Left out are those
// of one side alone, of different units, without a positive value, that A could not run, and rates where less is better
// or times where more is. A benchmark that only B could not run is B's failure. UserError where nothing can be
// compared.
struct CommonBenchmarks {
  std::vector<Figure> figures;
  WantedBenchmarks wanted;
  std::optional<Failure> of_b = {};
};
CommonBenchmarks common_benchmarks(const FirstRun& a, const FirstRun& b, bool higher_is_better);

// The rounds of the stage that count.
std::vector<Round> counted(const ProgramComparison& comparison, RoundStage stage);

// Makes the judgement of a single metric its only figure, with the medians over the rounds that the effect is of.
void note_metric(ProgramComparison& comparison, const std::vector<Round>& rounds);

// The rule that a gate of commands is judged by. With its judgement, or under this preset.
SuiteRule rule_of(const ProgramComparison& comparison, const JudgePreset& preset);

// The benchmarks that have to be run again after the recorded rounds, of those that were wanted.
WantedBenchmarks still_wanted(const SuiteRule& rule, const std::vector<Round>& rounds, const WantedBenchmarks& wanted);

// Computes figures, judgement and verdict of a gate from its rounds; of a suite the figures begin with those of
// common_benchmarks(). `why_given_up`: of rounds that ended before the rule had. Pure.
void conclude_gate(ProgramComparison& comparison, const JudgePreset& preset, const std::string& worse,
                   const std::string& why_given_up);

// The standard deviation of a round's effect, by benchmark, of a command that was judged against itself.
std::map<std::string, double> noise_of(const ProgramComparison& same);

// Says how noisy the usual benchmark is, which are restless, and what those share. Of a command against itself.
std::string noise_text(const ProgramComparison& same);

}  // namespace apo
