// reports/prediction_score.cpp - errors, coverage, and the order of pairs against that of shuffled predictions.
#include "reports/prediction_score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/random.h"

namespace apo::report {
namespace {

constexpr int kShuffles = 2000;

double middle_of(const PredictionOutcome& outcome) {
  return 0.5 * (std::log(outcome.prediction.low) + std::log(outcome.prediction.high));
}

// What was predicted and measured over one incumbent.
struct Stage {
  std::vector<double> middles;
  std::vector<double> effects;
};

struct Pairs {
  int right = 0;
  int all = 0;
};

Pairs count_pairs(const std::vector<Stage>& stages) {
  Pairs pairs;
  for (const Stage& stage : stages) {
    for (std::size_t i = 0; i < stage.effects.size(); ++i) {
      for (std::size_t j = i + 1; j < stage.effects.size(); ++j) {
        const double predicted = stage.middles[i] - stage.middles[j];
        const double measured = stage.effects[i] - stage.effects[j];
        pairs.all += predicted != 0 && measured != 0 ? 1 : 0;
        pairs.right += predicted * measured > 0 ? 1 : 0;
      }
    }
  }
  return pairs;
}

void score_order(const std::vector<PredictionOutcome>& outcomes, PredictionScore& score) {
  std::map<std::string, Stage> by_incumbent;
  for (const PredictionOutcome& outcome : outcomes) {
    if (std::isfinite(outcome.effect)) {
      Stage& stage = by_incumbent[outcome.incumbent];
      stage.middles.push_back(middle_of(outcome));
      stage.effects.push_back(outcome.effect);
    }
  }
  std::vector<Stage> stages;
  for (auto& [incumbent, stage] : by_incumbent) {
    stages.push_back(std::move(stage));
  }
  const Pairs pairs = count_pairs(stages);
  score.pairs = pairs.all;
  score.right_pairs = pairs.right;
  if (pairs.all == 0) {
    return;
  }
  Random random(derive_seed(0, "order of predictions"));
  int as_good = 0;
  for (int i = 0; i < kShuffles; ++i) {
    for (Stage& stage : stages) {
      shuffle(stage.middles, random);
    }
    as_good += count_pairs(stages).right >= pairs.right ? 1 : 0;
  }
  score.chance = static_cast<double>(as_good) / kShuffles;
}

}  // namespace

std::vector<PredictionOutcome> prediction_outcomes(const std::vector<Experiment>& experiments) {
  std::vector<PredictionOutcome> outcomes;
  for (const Experiment& experiment : experiments) {
    if (!has_prediction(experiment.prediction)) {
      continue;
    }
    PredictionOutcome& outcome = outcomes.emplace_back(PredictionOutcome{.index = experiment.index,
                                                                         .experiment = experiment.id,
                                                                         .candidate = experiment.candidate.label(),
                                                                         .incumbent = experiment.incumbent.label(),
                                                                         .prediction = experiment.prediction});
    if (has_effect(experiment)) {
      outcome.effect = experiment.judgement->effect;
      outcome.inside =
          outcome.effect >= std::log(outcome.prediction.low) && outcome.effect <= std::log(outcome.prediction.high);
    }
  }
  return outcomes;
}

PredictionScore score_predictions(const std::vector<PredictionOutcome>& outcomes) {
  PredictionScore score;
  double errors = 0;
  double absolute_errors = 0;
  double absolute_effects = 0;
  for (const PredictionOutcome& outcome : outcomes) {
    ++score.predicted;
    if (std::isfinite(outcome.effect)) {
      ++score.scored;
      score.inside += outcome.inside ? 1 : 0;
      errors += outcome.effect - middle_of(outcome);
      absolute_errors += std::fabs(outcome.effect - middle_of(outcome));
      absolute_effects += std::fabs(outcome.effect);
    }
  }
  if (score.scored > 0) {
    score.mean_error = errors / score.scored;
    score.mean_absolute_error = absolute_errors / score.scored;
    score.mean_absolute_effect = absolute_effects / score.scored;
  }
  score_order(outcomes, score);
  return score;
}

}  // namespace apo::report
