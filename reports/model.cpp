// reports/model.cpp - computes trajectory, withdrawals and prediction scores from the records.
#include "reports/model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "harness/core/normal.h"
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

// Of each experiment that was predicted. The experiments have verdicts.
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

bool is_accepted(const Experiment& experiment) {
  return experiment.judgement && experiment.judgement->verdict == Verdict::accepted;
}

double effect_of(const Experiment& experiment) {
  return has_effect(experiment) ? experiment.judgement->effect : kNotMeasured;
}

void sort_experiments(ReportModel& model) {
  std::vector<Experiment> all = std::exchange(model.experiments, {});
  std::stable_sort(all.begin(), all.end(), [](const Experiment& a, const Experiment& b) {
    return std::pair(a.index, a.id) < std::pair(b.index, b.id);
  });
  for (Experiment& experiment : all) {
    const bool interrupted = experiment.judgement && experiment.judgement->reason == Reason::interrupted;
    const bool given_up = interrupted || !experiment.abandoned.empty() || model.campaign.state != CampaignState::open;
    if (experiment.judgement && !interrupted) {
      model.experiments.push_back(std::move(experiment));
    } else if (given_up) {
      if (experiment.abandoned.empty()) {
        experiment.abandoned =
            interrupted ? experiment.judgement->sentence : "no verdict was written before the campaign ended";
      }
      model.abandoned.push_back(std::move(experiment));
    } else {
      model.under_way.push_back(std::move(experiment));
    }
  }
}

// An edited source under the same name is another configuration.
using Key = std::pair<std::string, std::string>;
Key candidate_key(const Experiment& experiment) {
  return {experiment.candidate.label(), experiment.candidate_source_hash};
}
Key incumbent_key(const Experiment& experiment) {
  return {experiment.incumbent.label(), experiment.incumbent_source_hash};
}

// Each accept builds on the incumbent that it was judged against, so a roll-back shows as the step that it was.
void trace_trajectory(ReportModel& model) {
  TrajectoryPoint point{.incumbent = model.campaign.baseline.label()};
  model.incumbent = point.incumbent;
  model.trajectory.push_back(point);
  std::map<Key, double> products;  // log of the naive product of each incumbent
  std::map<Key, double> shrunken;  // and of the shrunken one
  for (const Experiment& experiment : model.experiments) {
    const auto known = products.find(incumbent_key(experiment));
    if (known != products.end()) {
      point.incumbent = known->first.first;
      point.cumulative = known->second;
    } else if (products.empty()) {
      products[incumbent_key(experiment)] = 0;  // the first one judged is the baseline
    }
    point.index = experiment.index;
    point.experiment = experiment.id;
    point.accepted = is_accepted(experiment);
    point.withdrawn = model.withdrawn.contains(experiment.id);
    point.candidate = point.cumulative + effect_of(experiment);
    if (point.accepted) {
      point.incumbent = experiment.candidate.label();
      point.cumulative = point.candidate;
      products[candidate_key(experiment)] = point.candidate;
      shrunken[candidate_key(experiment)] =
          shrunken[incumbent_key(experiment)] +
          (std::isfinite(effect_of(experiment)) ? shrunken_effect(*experiment.judgement) : std::nan(""));
    }
    if (point.accepted && !point.withdrawn) {
      model.improved = true;
      model.incumbent = point.incumbent;
      model.naive_effect = point.cumulative;
      model.shrunken_effect = shrunken[candidate_key(experiment)];
    }
    model.trajectory.push_back(point);
  }
}

void pick_profiles(ReportModel& model) {
  const auto has_profiles = [](const IterationRecord& iteration) { return !iteration.profiles.empty(); };
  const auto first = std::find_if(model.iterations.begin(), model.iterations.end(), has_profiles);
  if (first == model.iterations.end()) {
    return;
  }
  model.first_profiles = first->profiles;
  const auto last = std::find_if(model.iterations.rbegin(), model.iterations.rend(), has_profiles);
  if (last->id != first->id || last->index != first->index) {
    model.last_profiles = last->profiles;
  }
}

void pick_claim(ReportModel& model) {
  for (const Certification& certification : model.certifications) {
    const bool of_final = certification.incumbent.label() == model.incumbent;
    const bool same_policy = certification.cache_policy == model.campaign.policy.cache_policy;
    const bool measured = certification.rounds > 0 && std::isfinite(certification.effect) &&
                          std::isfinite(certification.lower) && std::isfinite(certification.upper);
    if (model.improved && of_final && same_policy && measured) {
      model.claim = certification;
    }
  }
}

void collect_toolchains(ReportModel& model) {
  std::vector<Toolchain> toolchains = std::exchange(model.toolchains, {});
  for (const Experiment& experiment : model.experiments) {
    for (const Build* build : {&experiment.candidate_build, &experiment.incumbent_build}) {
      toolchains.push_back(build->toolchain);
    }
  }
  const auto key = [](const Toolchain& one) { return std::tie(one.compiler, one.version); };
  std::sort(toolchains.begin(), toolchains.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  for (Toolchain& toolchain : toolchains) {
    const bool empty = toolchain.compiler.empty() && toolchain.version.empty();
    const bool seen = !model.toolchains.empty() && key(model.toolchains.back()) == key(toolchain);
    if (!empty && !seen) {
      model.toolchains.push_back(std::move(toolchain));
    }
  }
}

void find_last_event(ReportModel& model) {
  const auto consider = [&](const std::string& at) { model.last_event_at = std::max(model.last_event_at, at); };
  consider(model.campaign.started_at);
  consider(model.campaign.ended_at);
  for (const auto* list : {&model.experiments, &model.under_way}) {
    for (const Experiment& experiment : *list) {
      consider(experiment.started_at);
      consider(experiment.finished_at);
    }
  }
  for (const Experiment& abandoned : model.abandoned) {
    consider(abandoned.started_at);
  }
  for (const Certification& certification : model.certifications) {
    consider(certification.at);
  }
  for (const SentinelRow& sentinel : model.sentinels) {
    consider(sentinel.at);
  }
}

template <class Record, class Key>
void sort_by(std::vector<Record>& records, Key key) {
  std::stable_sort(records.begin(), records.end(), [&](const Record& a, const Record& b) { return key(a) < key(b); });
}

}  // namespace

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

double shrunken_effect(const Judgement& judgement) {
  const double width = judgement.upper - judgement.lower;
  const double error = 0.5 * width / normal_quantile(0.5 * (1 + judgement.confidence));
  const double ratio = error / judgement.effect;
  if (judgement.effect == 0 && std::isfinite(error)) {
    return 0;
  }
  return std::isfinite(ratio) ? judgement.effect * std::max(0.0, 1 - ratio * ratio) : std::nan("");
}

ReportModel build_model(CampaignRecords records) {
  ReportModel model;
  static_cast<CampaignRecords&>(model) = std::move(records);
  sort_by(model.iterations, [](const IterationRecord& one) { return std::pair(one.index, one.id); });
  sort_by(model.lessons, [](const Lesson& one) { return one.id; });
  sort_by(model.certifications, [](const Certification& one) { return one.id; });
  sort_by(model.sentinels, [](const SentinelRow& one) { return one.at; });
  sort_experiments(model);
  collect_toolchains(model);
  trace_trajectory(model);
  model.predictions = prediction_outcomes(model.experiments);
  model.prediction_score = score_predictions(model.predictions);
  pick_profiles(model);
  pick_claim(model);
  find_last_event(model);
  return model;
}

}  // namespace apo::report
