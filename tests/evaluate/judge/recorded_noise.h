// tests/evaluate/judge/recorded_noise.h - rounds of real comparisons as noise in which the production judge is tried.
#pragma once

#include <string>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/records.h"
#include "tests/evaluate/judge/simulation.h"

namespace apo::simulation {

// The rounds that count of all comparisons of one workload, one comparison after the other. The mean effect of each is
// taken out, so that its arms take equally long.
struct RecordedNoise {
  std::string name;
  std::vector<std::vector<Round>> comparisons;
};

// A line of experiments/misjudged/cases.jsonl: one judgement, and how it really is.
struct MisjudgedCase {
  std::string name;  // of its row in the page beside it
  std::string from;
  std::string preset;
  double minimum_claim = 0;
  double truth = 0;             // log effect
  std::vector<double> effects;  // of the rounds that counted, in order, search first
};
APO_FIELDS(MisjudgedCase, name, from, preset, minimum_claim, truth, effects)
std::vector<MisjudgedCase> misjudged_cases(const std::string& path);

// Of host code in windows, from comparisons with at least eight rounds of one workload; of a .jsonl file, by name, the
// misjudged cases. Throws UserError where one cannot be read.
std::vector<RecordedNoise> recorded_noise(const std::vector<std::string>& journals);
RecordedNoise recorded_noise(std::string name, std::vector<std::vector<Round>> comparisons);

// As run_trials(). The rounds of a trial are drawn with replacement from one comparison; a coin decides which arm is
// the candidate, whose times are then shortened by the effect.
Tally run_recorded_trials(const RecordedNoise& noise, double effect, const JudgePreset& preset, int trials,
                          std::uint64_t seed);

}  // namespace apo::simulation
