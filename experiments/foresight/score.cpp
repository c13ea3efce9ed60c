// experiments/foresight/score.cpp - asks the predictor what it would have said.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "experiments/foresight/foresight.h"
#include "harness/research/diagnosis/diagnosis.h"
#include "harness/research/diagnosis/rules.h"
#include "harness/research/prediction/prediction.h"
#include "harness/research/remedy.h"
#include "harness/research/research.h"

namespace apo {
namespace {

constexpr double kCoverage = 0.8;  // of a band

// What a researcher said of one candidate.
struct Saying {
  double rank = 0;  // the larger, the earlier it is tried
  std::optional<Prediction> band;
  bool tried = true;
  std::optional<Forecast> forecast = {};  // of this program
};

using Sayings = std::vector<Saying>;  // of the candidates of a stage

Sayings recorded_of(const RecordedStage& stage) {
  Sayings sayings;
  for (const PastResult& one : stage.judged) {
    const bool stated = has_prediction(one.prediction) && one.prediction.source != PredictionSource::nothing;
    sayings.push_back(
        {.rank = -static_cast<double>(sayings.size()), .band = stated ? std::optional(one.prediction) : std::nullopt});
  }
  return sayings;
}

Sayings said_now(const RecordedStage& stage, const std::vector<PastResult>& candidates) {
  ResearchInputs inputs = stage.inputs;
  for (const PastResult& one : candidates) {
    inputs.proposed.push_back({.configuration = one.candidate, .prediction = {}});
  }
  const Evidence evidence(inputs);
  const Predictor predictor(inputs, evidence);
  const bool done = !done_at_floor(inputs.diagnosis.incumbent, inputs.diagnosis.profile).empty();
  Sayings sayings;
  for (const PastResult& one : candidates) {
    const RegisteredVariant* found = inputs.registered(one.candidate.variant);
    Saying saying{.rank = -std::numeric_limits<double>::infinity()};
    if (found != nullptr) {
      const double bound = floor_bound(inputs, {.variant = &found->variant, .configuration = one.candidate});
      const Forecast forecast = predictor.predict(found->variant, one.candidate, bound);
      if (forecast.band.source != PredictionSource::nothing) {
        saying = {.rank = forecast.effect,
                  .band = forecast.band,
                  .tried = !done && forecast.chance_above(inputs.minimum_detectable) >= kLeastChance,
                  .forecast = forecast};
      }
    }
    sayings.push_back(saying);
  }
  return sayings;
}

void score_pairs(const RecordedStage& stage, const Sayings& sayings, Foresight& score) {
  for (std::size_t i = 0; i < sayings.size(); ++i) {
    for (std::size_t j = i + 1; j < sayings.size(); ++j) {
      const PastResult& a = stage.judged[i];
      const PastResult& b = stage.judged[j];
      if (a.effect == b.effect || (a.verdict == Verdict::accepted && b.verdict == Verdict::accepted)) {
        continue;
      }
      const bool right = (sayings[i].rank > sayings[j].rank) == (a.effect > b.effect);
      ++(right ? score.right_pairs : score.wrong_pairs);
    }
  }
}

// Sums, for now: finish() divides them.
void score_bands(const RecordedStage& stage, const Sayings& sayings, Foresight& score) {
  for (std::size_t i = 0; i < sayings.size(); ++i) {
    const double effect = stage.judged[i].effect;
    if (!sayings[i].band) {
      continue;
    }
    const double low = std::log(sayings[i].band->low);
    const double high = std::log(sayings[i].band->high);
    score.bands.add(low, high, effect);
    if (stage.after_an_accept) {
      score.later_bands.add(low, high, effect);
      ++score.later;
      score.later_error += std::fabs(effect - (sayings[i].forecast ? sayings[i].forecast->effect : 0.5 * (low + high)));
    }
  }
}

// The candidates of a stage that this program would judge, in its order. As in a campaign the rest is ranked anew after
// each, and an accepted one is the last.
std::vector<PastResult> judged_now(RecordedStage stage) {
  std::vector<PastResult> judged;
  while (!stage.judged.empty()) {
    const Sayings sayings = said_now(stage, stage.judged);
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < sayings.size(); ++i) {
      if (sayings[i].tried && (!next || sayings[i].rank > sayings[*next].rank)) {
        next = i;
      }
    }
    if (!next) {
      break;
    }
    judged.push_back(stage.judged[*next]);
    if (judged.back().verdict == Verdict::accepted) {
      break;
    }
    stage.inputs.past.push_back(judged.back());
    stage.judged.erase(stage.judged.begin() + static_cast<std::ptrdiff_t>(*next));
  }
  return judged;
}

// Counts the experiments until the first configuration of `variant`, in the order of the sayings.
void count_until(const std::string& variant, const std::vector<PastResult>& candidates, const Sayings& sayings,
                 Foresight& score) {
  std::vector<std::size_t> order(candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sayings[a].rank > sayings[b].rank; });
  for (const std::size_t i : order) {
    score.until_final += 1;
    if (candidates[i].candidate.variant == variant) {
      return;
    }
  }
}

void finish(Foresight& score) {
  score.later_error /= std::max(1, score.later);
  score.until_final /= std::max(1, score.improved);
}

std::vector<Bottleneck> bottlenecks_now(const RecordedStage& stage) {
  return stage.diagnosable ? diagnose(stage.inputs.diagnosis) : std::vector<Bottleneck>();
}

void count_attacked(const RecordedStage& stage, const PastResult& accepted, ForesightReport& report) {
  const std::vector<Bottleneck> bottlenecks = bottlenecks_now(stage);
  const RegisteredVariant* found = stage.inputs.registered(accepted.candidate.variant);
  if (!bottlenecks.empty() && found != nullptr) {
    ++report.attacked;
    const Option option{.variant = &found->variant, .configuration = accepted.candidate};
    const double most = remedy_of(stage.inputs, bottlenecks, option).bound;
    report.above_attacked += accepted.effect > std::log(most) ? 1 : 0;
  }
}

// A stage ends with its accept.
int lost_accepts(const RecordedStage& stage) {
  const auto accepts = [](const std::vector<PastResult>& judged) {
    return static_cast<int>(std::ranges::count(judged, Verdict::accepted, &PastResult::verdict));
  };
  return accepts(stage.judged) - accepts(judged_now(stage));
}

// The experiments behind the last accept come after its stage.
void score_end(const RecordedCampaign& campaign, ForesightReport& report) {
  std::size_t last = campaign.stages.size();
  for (std::size_t i = 0; i < campaign.stages.size(); ++i) {
    for (const PastResult& one : campaign.stages[i].judged) {
      ++report.experiments;
      if (one.verdict == Verdict::accepted) {
        ++report.accepted;
        count_attacked(campaign.stages[i], one, report);
        last = i;
      }
    }
    report.lost_accepts += lost_accepts(campaign.stages[i]);
  }
  const std::string final_incumbent = final_variant(campaign);
  if (final_incumbent.empty()) {
    return;
  }
  for (std::size_t i = last + 1; i < campaign.stages.size(); ++i) {
    report.recorded.after_last_accept += static_cast<int>(campaign.stages[i].judged.size());
    report.now.after_last_accept += static_cast<int>(judged_now(campaign.stages[i]).size());
  }
  const std::vector<PastResult> candidates = judged_once(campaign);
  Sayings in_order(candidates.size());
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    in_order[i].rank = -static_cast<double>(i);
  }
  count_until(final_incumbent, candidates, in_order, report.recorded);
  count_until(final_incumbent, candidates, said_now(campaign.stages.front(), candidates), report.now);
  ++report.recorded.improved;
  ++report.now.improved;
}

// A forecast, and the effect that was measured.
struct ForecastOutcome {
  std::string journal;
  Forecast forecast;
  double effect = 0;
};

// The distance within which four of five effects lie, in standard deviations (Lee, Barber & Willett 2023, hierarchical
// conformal prediction: the journals are exchangeable, not their effects).
double conformal_reach(const std::vector<ForecastOutcome>& outcomes) {
  std::map<std::string, int> counts;
  for (const ForecastOutcome& one : outcomes) {
    ++counts[one.journal];
  }
  std::vector<std::pair<double, double>> distances;  // with their weights
  for (const ForecastOutcome& one : outcomes) {
    distances.emplace_back(
        std::fabs(one.effect - one.forecast.effect) / std::max(one.forecast.sd, EffectNetwork::kSharpest),
        1 / (static_cast<double>(counts.size() + 1) * counts.at(one.journal)));
  }
  std::ranges::sort(distances);
  double weight = 0;
  for (const auto& [distance, one] : distances) {
    weight += one;
    if (weight >= kCoverage) {
      return distance;
    }
  }
  return distances.empty() ? kBandReach : distances.back().first;
}

void add_outcomes(const RecordedCampaign& campaign, const RecordedStage& stage, const Sayings& sayings,
                  std::vector<ForecastOutcome>& outcomes) {
  for (std::size_t i = 0; i < sayings.size(); ++i) {
    if (sayings[i].forecast) {
      outcomes.push_back(
          {.journal = campaign.journal, .forecast = *sayings[i].forecast, .effect = stage.judged[i].effect});
    }
  }
}

}  // namespace

std::vector<PastResult> judged_once(const RecordedCampaign& campaign) {
  std::vector<PastResult> all;
  std::set<std::string> seen;
  for (const RecordedStage& stage : campaign.stages) {
    for (const PastResult& one : stage.judged) {
      if (seen.insert(one.candidate.label()).second) {
        all.push_back(one);
      }
    }
  }
  return all;
}

std::string final_variant(const RecordedCampaign& campaign) {
  std::string variant;
  for (const RecordedStage& stage : campaign.stages) {
    for (const PastResult& one : stage.judged) {
      variant = one.verdict == Verdict::accepted ? one.candidate.variant : variant;
    }
  }
  return variant;
}

void BandScore::add(double low, double high, double effect) {
  const double outside = std::max({low - effect, effect - high, 0.0});
  ++bands;
  inside += outside == 0 ? 1 : 0;
  penalties += high - low + 10 * outside;
}

double BandScore::interval_score() const {
  return penalties / std::max(1, bands);
}

ForesightReport score_foresight(const std::vector<RecordedCampaign>& campaigns) {
  ForesightReport report;
  std::vector<ForecastOutcome> outcomes;
  for (const RecordedCampaign& campaign : campaigns) {
    std::vector<Sayings> all;
    for (const RecordedStage& stage : campaign.stages) {
      all.push_back(said_now(stage, stage.judged));
      add_outcomes(campaign, stage, all.back(), outcomes);
      for (auto [sayings, score] :
           {std::pair(recorded_of(stage), &report.recorded), std::pair(all.back(), &report.now)}) {
        if (stage.after_an_accept) {
          score_pairs(stage, sayings, *score);
        }
        score_bands(stage, sayings, *score);
      }
    }
    score_end(campaign, report);
  }
  finish(report.recorded);
  finish(report.now);
  report.reach = conformal_reach(outcomes);
  return report;
}

}  // namespace apo
