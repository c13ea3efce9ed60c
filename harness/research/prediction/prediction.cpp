// harness/research/prediction/prediction.cpp - bands in logs, their calibration, and the way from a variant's ancestry
// to a band.
#include "harness/research/prediction/prediction.h"

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/research/catalogue/techniques.h"

namespace apo {
namespace {

constexpr double kNarrowestAtTheCap = 1.1;
constexpr double kWidestAtTheCap = 2.0;

// One step of one tunable. The E88 journal has 28 % slower to 10 % faster for the checkpoint interval, 4 % for the
// threads.
const Prediction kTuningStep{.low = 0.85, .high = 1.12, .relative_to = "incumbent", .because = "one step of a tunable"};

Prediction measured_band(const MeasuredEffect& effect) {
  return {.low = std::exp(effect.effect - effect.half_width),
          .high = std::exp(effect.effect + effect.half_width),
          .relative_to = "incumbent",
          .because = "measured: " + name_experiments(effect.experiments),
          .source = PredictionSource::measurements};
}

}  // namespace

Prediction capped(Prediction band, double bound) {
  if (!(band.high > bound)) {
    return band;
  }
  if (band.low * kNarrowestAtTheCap > bound) {
    band.low = bound / std::clamp(band.high / band.low, kNarrowestAtTheCap, kWidestAtTheCap);
  }
  band.high = bound;
  return band;
}

Prediction unsupported(Prediction band) {
  band.low = std::exp(std::log(band.low) - 0.5 * std::fabs(std::log(band.low)));
  return band;
}

Prediction composed(const Prediction& a, const Prediction& b) {
  Prediction result = a;
  result.low = a.low * b.low;
  result.high = a.high * b.high;
  result.source = PredictionSource::idea;
  return result;
}

Prediction inverted(const Prediction& band) {
  Prediction result = band;
  result.low = 1 / band.high;
  result.high = 1 / band.low;
  return result;
}

double log_middle(const Prediction& band) {
  return 0.5 * (std::log(band.low) + std::log(band.high));
}

bool is_band(const Prediction& band) {
  return std::isfinite(band.low) && std::isfinite(band.high) && band.low > 0 && band.low <= band.high;
}

Calibration calibrate(const std::vector<ScoredPrediction>& scored) {
  constexpr double kPriorCount = 4;
  const double prior = kPriorCount * std::log(1.2) * std::log(1.2);
  Calibration result;
  double hits = 0;
  double product = prior;
  double square = prior;
  for (const ScoredPrediction& one : scored) {
    if (!is_band(one.predicted) || !std::isfinite(one.effect)) {
      continue;
    }
    const double predicted = log_middle(one.predicted);
    ++result.count;
    hits += one.upper >= std::log(one.predicted.low) && one.lower <= std::log(one.predicted.high) ? 1 : 0;
    result.mean_log_error += one.effect - predicted;
    result.mean_abs_log_error += std::fabs(one.effect - predicted);
    product += predicted * one.effect;
    square += predicted * predicted;
  }
  if (result.count > 0) {
    result.hit_rate = hits / result.count;
    result.mean_log_error /= result.count;
    result.mean_abs_log_error /= result.count;
  }
  result.factor = std::clamp(product / square, 0.0, 2.0);
  return result;
}

Prediction corrected(const Prediction& band, const Calibration& calibration) {
  const double shift = std::exp((calibration.factor - 1) * log_middle(band));
  Prediction result = band;
  result.low *= shift;
  result.high *= shift;
  return result;
}

Calibration calibration_of(const Evidence& evidence) {
  std::vector<ScoredPrediction> scored;
  for (const PastResult& past : evidence.scorable()) {
    scored.push_back({.predicted = past.prediction, .effect = past.effect, .lower = past.lower, .upper = past.upper});
  }
  return calibrate(scored);
}

std::vector<std::string> added_techniques(const Variant& variant, const Variant& base) {
  std::vector<std::string> added;
  for (const std::string& technique : variant.techniques) {
    if (std::find(base.techniques.begin(), base.techniques.end(), technique) == base.techniques.end()) {
      added.push_back(technique);
    }
  }
  return added;
}

Predictor::Predictor(const ResearchInputs& inputs, const Evidence& evidence)
    : inputs_(inputs),
      evidence_(evidence),
      incumbent_{normalised(inputs.incumbent, inputs.diagnosis.incumbent), inputs.diagnosis.incumbent.source_hash},
      calibration_(calibration_of(evidence)) {}

const Variant* Predictor::find(const std::string& id) const {
  if (id == inputs_.diagnosis.incumbent.id()) {
    return &inputs_.diagnosis.incumbent;
  }
  for (const RegisteredVariant& registered : inputs_.variants) {
    if (registered.variant.id() == id) {
      return &registered.variant;
    }
  }
  return nullptr;
}

Subject Predictor::subject(const Variant& variant) const {
  return {normalised({.variant = variant.id(), .settings = {}}, variant), variant.source_hash};
}

// The product of the priors of the techniques that `variant` adds; nothing when none of them has one.
std::optional<Prediction> Predictor::prior_over(const Variant& variant, const Variant& base) {
  Prediction band{.low = 1, .high = 1, .relative_to = base.id(), .because = ""};
  std::vector<std::string> sources;
  for (const std::string& name : added_techniques(variant, base)) {
    if (const Technique* technique = find_technique(name, variant.target)) {
      band.low *= technique->low;
      band.high *= technique->high;
      sources.push_back(technique->source);
    }
  }
  band.because = "prior of " + join(sources, "; ");
  return sources.empty() ? std::nullopt : std::optional(band);
}

// The variant itself (1x), then each ancestor with the band over it; ends where the chain breaks, bites its tail or has
// no prediction.
std::vector<Predictor::Link> Predictor::ancestry(const Variant& variant) const {
  std::vector<Link> chain = {{.ancestor = &variant, .band = {.low = 1, .high = 1, .relative_to = "", .because = ""}}};
  while (true) {
    const Variant& current = *chain.back().ancestor;
    const bool own = current.prediction && is_band(*current.prediction);
    const bool over_parent = !own || current.prediction->relative_to == "parent";
    std::string base = over_parent ? current.parent : current.prediction->relative_to;
    if (!base.empty() && base.find('/') == std::string::npos) {
      base = current.family + "/" + base;
    }
    const Variant* ancestor = find(base);
    const bool known =
        std::any_of(chain.begin(), chain.end(), [&](const Link& link) { return link.ancestor == ancestor; });
    if (ancestor == nullptr || known) {
      return chain;
    }
    const std::optional<Prediction> step = own ? current.prediction : prior_over(current, *ancestor);
    if (!step) {
      return chain;
    }
    Prediction band = composed(chain.back().band, *step);
    band.because = own ? "apo:predict" : step->because;
    if (chain.size() > 1) {
      band.because = chain.back().band.because + " through " + current.name;
    }
    chain.push_back({.ancestor = ancestor, .band = band});
  }
}

std::optional<Prediction> Predictor::over_incumbent(const Variant& variant) const {
  const std::vector<Link> chain = ancestry(variant);
  for (const Link& link : chain) {
    if (link.ancestor == &variant) {
      continue;  // its own measurements were asked for already
    }
    Prediction band = corrected(link.band, calibration_);
    if (link.ancestor->id() == incumbent_.configuration.variant) {
      return band;
    }
    if (const auto effect = evidence_.measured(incumbent_, subject(*link.ancestor))) {
      band = composed(band, measured_band(*effect));
      band.because += ", and " + link.ancestor->name + " was measured in " + name_experiments(effect->experiments);
      return band;
    }
  }
  for (const Link& link : chain) {
    for (const Link& other : ancestry(inputs_.diagnosis.incumbent)) {
      if (other.ancestor->id() == link.ancestor->id()) {
        Prediction band = corrected(composed(link.band, inverted(other.band)), calibration_);
        band.because = "predictions over " + link.ancestor->name + ", an ancestor of both";
        return band;
      }
    }
  }
  return std::nullopt;
}

Prediction Predictor::predict(const Variant& variant, const Configuration& configuration, double bound) const {
  const Subject wanted{normalised(configuration, variant), variant.source_hash};
  if (const auto effect = evidence_.measured(incumbent_, wanted)) {
    return measured_band(*effect);
  }
  const bool same_source = wanted.source_hash == incumbent_.source_hash;
  if (same_source && wanted.configuration.variant == incumbent_.configuration.variant) {
    return capped(kTuningStep, bound);
  }
  const Subject untuned = subject(variant);
  if (!(wanted == untuned)) {
    const Prediction defaults = predict(variant, untuned.configuration, bound);
    if (defaults.source == PredictionSource::nothing) {
      return defaults;
    }
    Prediction band = composed(defaults, kTuningStep);
    band.because = "one step of a tunable from the defaults of " + variant.name;
    return capped(band, bound);
  }
  std::optional<Prediction> band = over_incumbent(variant);
  if (!band || !is_band(*band)) {
    const double most = std::isfinite(bound) ? bound : kUnknownFloorBound;
    band = Prediction{.low = 1 / most,
                      .high = most,
                      .relative_to = "",
                      .because = "nothing predicts it over the incumbent",
                      .source = PredictionSource::nothing};
  }
  band->relative_to = "incumbent";
  return capped(*band, bound);
}

}  // namespace apo
