// reports/prediction_score.h - compares what was predicted of a campaign's candidates with what was measured.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo::report {

// A prediction and the effect that was measured.
struct PredictionOutcome {
  int index = 0;
  std::int64_t experiment = 0;
  std::string candidate;
  std::string incumbent;  // that both are over
  Prediction prediction;
  double effect = std::numeric_limits<double>::quiet_NaN();  // log; NaN where the candidate was not timed
  bool inside = false;
};

struct PredictionScore {
  int predicted = 0;
  int scored = 0;  // predicted and measured
  int inside = 0;
  double mean_error = std::numeric_limits<double>::quiet_NaN();  // log of measured / middle; > 0: better than predicted
  double mean_absolute_error = std::numeric_limits<double>::quiet_NaN();
  double mean_absolute_effect = std::numeric_limits<double>::quiet_NaN();  // the error of who always predicts 1x
  int pairs = 0;        // of two measured over one incumbent whose predictions differ
  int right_pairs = 0;  // the one with the higher prediction was faster
  double chance = std::numeric_limits<double>::quiet_NaN();  // that predictions dealt out at random do as well
};

// Of each experiment that was predicted. The experiments have verdicts.
std::vector<PredictionOutcome> prediction_outcomes(const std::vector<Experiment>& experiments);
// Pure: `chance` comes from shuffles with a fixed seed.
PredictionScore score_predictions(const std::vector<PredictionOutcome>& outcomes);

}  // namespace apo::report
