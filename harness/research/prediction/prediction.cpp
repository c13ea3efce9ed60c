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

std::string because(const ScanTimes& times) {
  return fmt::format("a scan: {} beside {}, {} pairs of calls", format_ns(times.time_ns), format_ns(times.incumbent_ns),
                     times.pairs);
}

Forecast forecast_of(double effect, double sd, double bound, const std::string& because, PredictionSource source) {
  const double low = effect - kPredictedReach * sd;
  const double end = effect + kPredictedReach * sd;
  const double high = low < std::log(bound) ? std::min(end, std::log(bound)) : end;
  return {.effect = effect,
          .sd = sd,
          .band = {.low = std::exp(low),
                   .high = std::exp(high),
                   .relative_to = "incumbent",
                   .because = because,
                   .source = source}};
}

}  // namespace

double Forecast::chance_above(double least) const {
  return normal_probability((effect - least) / std::max(sd, EffectNetwork::kSharpest));
}

Predictor::Predictor(const ResearchInputs& inputs, const Evidence& evidence)
    : known_(inputs, evidence),
      network_(known_.nodes(), known_.statements()),
      scans_(inputs.scanned,
             {normalised(inputs.incumbent, inputs.diagnosis.incumbent), inputs.diagnosis.incumbent.source_hash}) {}

Forecast Predictor::predict(const Variant& variant, const Configuration& configuration, double bound) const {
  const Forecast stated = by_statements(variant, configuration, bound);
  const ScannedEffect* scan = scans_.find({normalised(configuration, variant), variant.source_hash});
  if (stated.band.source == PredictionSource::measurements || scan == nullptr ||
      scan->row.times.outcome != Outcome::valid) {
    return stated;
  }
  return forecast_of(scan->effect,
                     std::hypot(scan->sd, kScanDeviation + kScanDeviationOfEffect * std::abs(scan->effect)), bound,
                     because(scan->row.times), PredictionSource::measurements);
}

bool Predictor::goes_by_scan(const Variant& variant, const Configuration& configuration) const {
  const ScannedEffect* scan = scans_.find({normalised(configuration, variant), variant.source_hash});
  return scan != nullptr && scan->row.times.outcome == Outcome::valid &&
         by_statements(variant, configuration, kUnknownFloorBound).band.source != PredictionSource::measurements;
}

Forecast Predictor::by_statements(const Variant& variant, const Configuration& configuration, double bound) const {
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
  const bool is_judged = estimate.share[static_cast<std::size_t>(Basis::here)] >= 0.9;
  return forecast_of(estimate.effect, estimate.sd, bound, because(estimate),
                     is_judged ? PredictionSource::measurements : PredictionSource::idea);
}

}  // namespace apo
