// tests/evaluate/judge/recorded_noise.h - rounds of real comparisons as noise in which the production judge is tried.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "tests/evaluate/judge/simulation.h"

namespace apo::simulation {

// The rounds that count of all comparisons of one workload, one comparison after the other. The mean effect of each is
// taken out, so that its arms take equally long.
struct RecordedNoise {
  std::string name;
  std::vector<std::vector<Round>> comparisons;
};

// Of host code in windows, from comparisons with at least eight rounds of one workload. Throws UserError where a
// journal cannot be read.
std::vector<RecordedNoise> recorded_noise(const std::vector<std::string>& journals);
RecordedNoise recorded_noise(std::string name, std::vector<std::vector<Round>> comparisons);

// As run_trials(). The rounds of a trial are drawn with replacement from one comparison; a coin decides which arm is
// the candidate, whose times are then shortened by the effect.
Tally run_recorded_trials(const RecordedNoise& noise, double effect, const JudgePreset& preset, int trials,
                          std::uint64_t seed);

}  // namespace apo::simulation
