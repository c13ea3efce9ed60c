// experiments/foresight/baseline.cpp - scores a random order and the percentiles of the other journals.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "experiments/foresight/foresight.h"

namespace apo {
namespace {

void add_effects(const RecordedCampaign& campaign, bool later, std::vector<double>& effects) {
  for (const RecordedStage& stage : campaign.stages) {
    if (stage.after_an_accept == later) {
      std::ranges::transform(stage.judged, std::back_inserter(effects), &PastResult::effect);
    }
  }
}

// Sorted.
std::vector<double> effects_of_others(const std::vector<RecordedCampaign>& campaigns,
                                      const std::vector<RecordedCampaign>& known, const std::string& journal,
                                      bool later) {
  std::vector<double> effects;
  for (const RecordedCampaign& campaign : campaigns) {
    if (campaign.journal != journal) {
      add_effects(campaign, later, effects);
    }
  }
  for (const RecordedCampaign& campaign : known) {
    add_effects(campaign, later, effects);
  }
  std::ranges::sort(effects);
  return effects;
}

// Linear between the order statistics; `sorted` has one value at least.
double percentile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void score_band(const RecordedStage& stage, const std::vector<double>& others, Baseline& score) {
  if (others.empty()) {
    return;
  }
  const double low = percentile(others, 0.1), middle = percentile(others, 0.5), high = percentile(others, 0.9);
  for (const PastResult& one : stage.judged) {
    score.bands.add(low, high, one.effect);
    if (stage.after_an_accept) {
      score.later_bands.add(low, high, one.effect);
      ++score.later;
      score.later_error += std::fabs(one.effect - middle);
    }
  }
}

// In a random order each of the others comes before all configurations of the final variant with the same chance.
void expect_until_final(const RecordedCampaign& campaign, const std::string& variant, Baseline& score) {
  double right = 0, others = 0;
  for (const PastResult& one : judged_once(campaign)) {
    (one.candidate.variant == variant ? right : others) += 1;
  }
  score.until_final += 1 + others / (right + 1);
}

}  // namespace

Baseline score_baseline(const std::vector<RecordedCampaign>& campaigns, const std::vector<RecordedCampaign>& known) {
  Baseline score;
  int improved = 0;
  for (const RecordedCampaign& campaign : campaigns) {
    for (const RecordedStage& stage : campaign.stages) {
      score_band(stage, effects_of_others(campaigns, known, campaign.journal, stage.after_an_accept), score);
    }
    if (const std::string variant = final_variant(campaign); !variant.empty()) {
      expect_until_final(campaign, variant, score);
      ++improved;
    }
  }
  score.until_final /= std::max(1, improved);
  score.later_error /= std::max(1, score.later);
  return score;
}

}  // namespace apo
