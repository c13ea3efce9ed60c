// harness/research/prediction/prediction.cpp - queries the network and words its answer.
#include "harness/research/prediction/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/core/normal.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string because(const Estimate& estimate) {
  constexpr std::array<std::string_view, kBases> kNames = {"judgements here", "judgements elsewhere", "apo:predict",
                                                           "what its techniques gave", "texts and settings beside it"};
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t i = 0; i < kBases; ++i) {
    const int percent = static_cast<int>(std::lround(100 * estimate.share[i]));
    if (percent >= 5) {
      parts.emplace_back(-estimate.share[i], fmt::format("{} % {}", percent, kNames[i]));
    }
  }
  std::ranges::sort(parts);
  std::vector<std::string> words;
  for (const auto& [share, word] : parts) {
    words.push_back(word);
  }
  std::vector<std::int64_t> experiments = estimate.experiments;
  std::ranges::sort(experiments);
  return join(words, ", ") + (experiments.empty() ? "" : ": " + name_experiments(experiments));
}

// A setting that nobody judged lies a few steps from one that has a node.
Estimate beyond(Estimate estimate, const KnownEffects::Step& step) {
  const double variance = estimate.sd * estimate.sd + step.sd * step.sd;
  const double kept = variance > 0 ? estimate.sd * estimate.sd / variance : 1;
  for (double& share : estimate.share) {
    share *= kept;
  }
  estimate.share[static_cast<std::size_t>(step.basis)] += 1 - kept;
  estimate.effect += step.effect;
  estimate.sd = std::sqrt(variance);
  return estimate;
}

Prediction unknown_band(double bound) {
  const double most = std::min(bound, kUnknownFloorBound);
  return {.low = 1 / most,
          .high = most,
          .relative_to = "incumbent",
          .because = "nothing was said of it",
          .source = PredictionSource::nothing};
}

}  // namespace

double Forecast::chance_above(double least) const {
  return normal_probability((effect - least) / std::max(sd, EffectNetwork::kSharpest));
}

Predictor::Predictor(const ResearchInputs& inputs, const Evidence& evidence)
    : known_(inputs, evidence), network_(known_.nodes(), known_.statements()) {}

Forecast Predictor::predict(const Variant& variant, const Configuration& configuration, double bound) const {
  const auto nearest = known_.nearest(variant, normalised(configuration, variant).settings);
  if (!nearest) {
    return {.band = unknown_band(bound)};
  }
  auto known = estimates_.find(nearest->node);
  if (known == estimates_.end()) {
    known = estimates_.emplace(nearest->node, network_.difference(known_.incumbent(), nearest->node)).first;
  }
  const Estimate estimate = beyond(known->second, nearest->step);
  if (!estimate.connected) {
    return {.band = unknown_band(bound)};
  }
  Forecast forecast{.effect = estimate.effect, .sd = estimate.sd};
  const double low = forecast.effect - kPredictedReach * forecast.sd,
               end = forecast.effect + kPredictedReach * forecast.sd;
  const double high = low < std::log(bound) ? std::min(end, std::log(bound)) : end;
  forecast.band = {
      .low = std::exp(low), .high = std::exp(high), .relative_to = "incumbent", .because = because(estimate)};
  if (estimate.share[static_cast<std::size_t>(Basis::here)] >= 0.9) {
    forecast.band.source = PredictionSource::measurements;
  }
  return forecast;
}

}  // namespace apo
