// harness/research/prediction/prediction.cpp - queries the network and words its answer.
#include "harness/research/prediction/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

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
  const double low = effect - kBandReach * sd;
  const double end = effect + kBandReach * sd;
  const double high = low < std::log(bound) ? std::min(end, std::log(bound)) : end;
  return {.effect = effect,
          .sd = sd,
          .band = {.low = std::exp(low),
                   .high = std::exp(high),
                   .relative_to = "incumbent",
                   .because = because,
                   .source = source}};
}

// Verdicts lie about scans with a standard deviation of the spread of the scan's calls, and of a part of the effect and
// kNear. On hosts that part is from 96 pairs (experiments/host-epyc/scan.md); on GPUs, where no scan was judged yet, it
// is a prior, of what repeated scans differ by.
constexpr double kHostPart = 0.1;
constexpr double kGpuPart = 0.03;
constexpr double kNear = 0.2;
constexpr double kPriorPairs = 20;  // that count like so many

double deviation_of(const ScannedEffect& scan, double part) {
  return std::hypot(scan.sd, part * (kNear + std::abs(scan.effect)));
}

// A scanned effect, and what a judgement made of it.
struct JudgedScan {
  ScannedEffect scan;
  double verdict = 0;
};

std::vector<JudgedScan> judged_scans(const ResearchInputs& inputs, const Evidence& evidence) {
  std::vector<JudgedScan> judged;
  std::map<std::pair<std::string, std::string>, Scans> beside;  // by incumbent
  for (const PastResult& past : evidence.results()) {
    if (inputs.scanned.empty() || !past.timed || !std::isfinite(past.effect) || !is_same_place(inputs, past)) {
      continue;
    }
    const Subject incumbent{past.incumbent, past.incumbent_source_hash};
    const auto scans = beside.try_emplace({past.incumbent.label(), incumbent.source_hash}, inputs.scanned, incumbent);
    const ScannedEffect* scan = scans.first->second.find({past.candidate, past.candidate_source_hash});
    if (scan != nullptr && scan->row.times.outcome == Outcome::valid) {
      judged.push_back({.scan = *scan, .verdict = past.effect});
    }
  }
  return judged;
}

// Returns the part with which bands hold four of five of the verdicts so far and of the prior's.
double fitted_part(double prior, const std::vector<JudgedScan>& judged) {
  const auto share_inside = [&](double part) {
    double inside = kPriorPairs * (2 * normal_probability(kBandReach * part / prior) - 1);
    for (const auto& [scan, verdict] : judged) {
      inside += std::abs(verdict - scan.effect) <= kBandReach * deviation_of(scan, part) ? 1 : 0;
    }
    return inside / (kPriorPairs + static_cast<double>(judged.size()));
  };
  double low = prior / 100, high = prior * 100;
  while (high > 1.001 * low) {
    const double middle = std::sqrt(low * high);
    (share_inside(middle) < 0.8 ? low : high) = middle;
  }
  return high;
}

bool by_judgements_here(const Estimate& estimate) {
  return estimate.connected && estimate.share[static_cast<std::size_t>(Basis::here)] >= 0.9;
}

}  // namespace

double Forecast::chance_above(double least) const {
  return normal_probability((effect - least) / std::max(sd, EffectNetwork::kSharpest));
}

Predictor::Predictor(const ResearchInputs& inputs, const Evidence& evidence)
    : incumbent_{normalised(inputs.incumbent, inputs.diagnosis.incumbent), inputs.diagnosis.incumbent.source_hash},
      statements_(collect_statements(inputs, evidence)),
      network_(statements_.nodes.size(), statements_.effects),
      scans_(inputs.scanned, incumbent_),
      scan_part_(fitted_part(inputs.diagnosis.incumbent.target == Target::cuda ? kGpuPart : kHostPart,
                             judged_scans(inputs, evidence))) {}

Forecast Predictor::predict(const Variant& variant, const Configuration& configuration, double bound) const {
  const Subject subject{normalised(configuration, variant), variant.source_hash};
  const Estimate estimate = stated(subject);
  const ScannedEffect* scan = scans_.find(subject);
  if (by_judgements_here(estimate)) {
    return forecast_of(estimate.effect, estimate.sd, bound, because(estimate), PredictionSource::measurements);
  }
  if (scan != nullptr && scan->row.times.outcome == Outcome::valid) {
    return forecast_of(scan->effect, deviation_of(*scan, scan_part_), bound, because(scan->row.times),
                       PredictionSource::measurements);
  }
  if (!estimate.connected) {
    return {.band = unknown_band(bound)};
  }
  return forecast_of(estimate.effect, estimate.sd, bound, because(estimate), PredictionSource::idea);
}

bool Predictor::is_judged(const Variant& variant, const Configuration& configuration) const {
  return by_judgements_here(stated({normalised(configuration, variant), variant.source_hash}));
}

Estimate Predictor::stated(const Subject& subject) const {
  const auto node = statements_.find(subject);
  if (!node) {
    return {.connected = false};
  }
  const auto [known, added] = estimates_.try_emplace(*node);
  if (added) {
    known->second = network_.difference(*statements_.find(incumbent_), *node);
  }
  return known->second;
}

}  // namespace apo
