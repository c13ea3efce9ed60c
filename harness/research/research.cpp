// harness/research/research.cpp - collects candidates, leaves out refuted ones, scores and sorts the rest.
#include "harness/research/research.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/research/diagnosis/rules.h"
#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/prediction.h"
#include "harness/research/search.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr double kUntestedCost = 1.25;
constexpr double kExploration = 0.25;
constexpr double kUndiagnosed = 0.5;
constexpr int kPromisingVariants = 2;
constexpr int kNeighboursEach = 4;

// The part of today's time that a speed-up saves; 0 for a slow-down.
double saving(double speedup) {
  return speedup > 1 ? 1 - 1 / speedup : 0;
}

// What every option is held against.
struct Knowledge {
  const ResearchInputs& inputs;
  const Evidence& evidence;
  const Predictor& predictor;
  Subject incumbent;
  std::vector<Bottleneck> bottlenecks;
};

// A configuration under consideration.
struct Option {
  const Variant* variant = nullptr;
  Configuration configuration;  // normalised
  Origin origin = Origin::registered;
};

struct Attack {
  std::vector<std::string> bottlenecks;  // that are attacked, the largest first
  double bound = 1.0;                    // of all of them together
};

// What attacks a bottleneck is held to the bound of that, unless the whole band lies above it: then the diagnosis
// missed something. What attacks nothing that was found is less certain; the floor caps it already. A measurement is
// not held against anything, and neither is what nobody knows.
Prediction under(const Prediction& band, const Attack& attack) {
  if (band.source != PredictionSource::idea) {
    return band;
  }
  if (attack.bottlenecks.empty()) {
    return unsupported(band);
  }
  return band.low < attack.bound ? capped(band, attack.bound) : band;
}

// The most that any change can give, for the score.
double ceiling(const Profile& profile) {
  const double bound = floor_bound(profile);
  return std::isfinite(bound) ? bound : kUnknownFloorBound;
}

std::vector<std::string> new_techniques(const Knowledge& known, const Option& option) {
  return added_techniques(*option.variant, known.inputs.diagnosis.incumbent);
}

// Savings of several bottlenecks add up, as far as the floor allows.
Attack attack_of(const Knowledge& known, const Option& option) {
  std::vector<std::string> techniques = new_techniques(known, option);
  if (option.origin == Origin::tuning && techniques.empty()) {
    techniques = option.variant->techniques;
  }
  Attack attack;
  double saved = 0;
  for (const Bottleneck& bottleneck : known.bottlenecks) {  // the largest first
    if (any_attacks(techniques, option.variant->target, bottleneck.name)) {
      saved += saving(bottleneck.bound);
      attack.bottlenecks.push_back(bottleneck.name);
    }
  }
  const double most = saving(ceiling(known.inputs.diagnosis.profile));
  const double fraction = attack.bottlenecks.empty() ? kUndiagnosed * most : std::min(saved, most);
  attack.bound = 1 / (1 - fraction);
  return attack;
}

double track_record(const Evidence& evidence, const std::vector<std::string>& techniques) {
  double sum = 0;
  for (const std::string& technique : techniques) {
    sum += evidence.track_record(technique);
  }
  return techniques.empty() ? 1 : sum / static_cast<double>(techniques.size());
}

std::string sentence(const Option& option, const Attack& attack, const Prediction& prediction, bool tried) {
  const std::string target =
      attack.bottlenecks.empty()
          ? "attacks nothing that was found"
          : fmt::format("attacks {}, which could give at most {}{}", join(attack.bottlenecks, " and "),
                        format_ratio(attack.bound), attack.bottlenecks.size() > 1 ? " together" : "");
  const bool unknown = prediction.source == PredictionSource::nothing;
  return fmt::format("{} {}; {} ({}){}.", option.variant->name, target,
                     unknown ? "its effect is unknown" : "predicted " + format_band(prediction.low, prediction.high),
                     prediction.because, tried ? "" : "; never tried here");
}

Candidate candidate_of(const Knowledge& known, const Option& option, const Attack& attack,
                       const Prediction& prediction) {
  const bool tried = known.evidence.tries(option.variant->id(), option.variant->source_hash) > 0;
  const bool passed = tried || option.variant->id() == known.incumbent.configuration.variant;
  const bool measured = prediction.source == PredictionSource::measurements;
  const bool unknown = prediction.source == PredictionSource::nothing;
  const double middle = saving(std::exp(log_middle(prediction)));
  const double most = std::max(saving(attack.bound), middle);
  const double prior = most > 0 ? middle / most : 0;
  const double evidence = measured ? 1 : track_record(known.evidence, new_techniques(known, option));
  const double cost = passed ? 1 : kUntestedCost;
  const double exploration = tried ? 0 : kExploration * (saving(prediction.high) - middle);
  return {.configuration = option.configuration,
          .techniques = option.variant->techniques,
          .prediction = unknown ? Prediction{.relative_to = "incumbent"} : prediction,
          .attacks = attack.bottlenecks.empty() ? "" : attack.bottlenecks.front(),
          .score = known.inputs.share * (most * prior * evidence / cost + exploration),
          .why = sentence(option, attack, prediction, tried),
          .origin = option.origin};
}

bool is_incumbent(const Knowledge& known, const Option& option) {
  return option.variant->source_hash == known.incumbent.source_hash &&
         option.configuration.settings == known.incumbent.configuration.settings;
}

// Ranked with its prediction, or left out with the reason.
void consider(const Knowledge& known, const Option& option, ResearchBrief& brief) {
  const auto leave_out = [&](LeftOutKind kind, const std::string& why) {
    brief.left_out.push_back({.configuration = option.configuration, .why = why, .kind = kind});
  };
  if (is_incumbent(known, option)) {
    leave_out(LeftOutKind::incumbent, "identical to the incumbent: same source, same settings");
    return;
  }
  const Subject subject{option.configuration, option.variant->source_hash};
  if (const std::string refuted = known.evidence.refuted(subject, known.incumbent); !refuted.empty()) {
    leave_out(LeftOutKind::refuted, refuted);
    return;
  }
  const Attack attack = attack_of(known, option);
  const double floor = floor_bound(known.inputs.diagnosis.profile);
  const Prediction predicted = under(known.predictor.predict(*option.variant, option.configuration, floor), attack);
  if (!(std::log(predicted.high) > known.inputs.minimum_detectable)) {
    const std::string expected =
        predicted.source == PredictionSource::nothing
            ? "the floor leaves " + format_ratio(predicted.high) + " at most"
            : fmt::format("predicted {} ({})", format_band(predicted.low, predicted.high), predicted.because);
    leave_out(LeftOutKind::below_resolution, fmt::format("{}, and this machine resolves {} at best", expected,
                                                         format_percent(known.inputs.minimum_detectable)));
    return;
  }
  brief.ranked.push_back(candidate_of(known, option, attack, predicted));
}

void consider_registered(const Knowledge& known, ResearchBrief& brief) {
  for (const RegisteredVariant& registered : known.inputs.variants) {
    const Variant& variant = registered.variant;
    const Option option{.variant = &variant,
                        .configuration = normalised({.variant = variant.id(), .settings = {}}, variant),
                        .origin = Origin::registered};
    const bool incumbents =
        variant.id() == known.incumbent.configuration.variant && variant.source_hash == known.incumbent.source_hash;
    if (incumbents && !(option.configuration == known.incumbent.configuration)) {
      continue;  // other settings of the incumbent are the search's business
    }
    if (registered.supported) {
      consider(known, option, brief);
    } else {
      brief.left_out.push_back({.configuration = option.configuration,
                                .why = "unsupported: " + registered.why_not,
                                .kind = registered.kind});
    }
  }
}

std::vector<Settings> neighbours(const Knowledge& known, const Variant& variant, const Settings& centre) {
  std::vector<MeasuredSettings> measured;
  for (const PastResult& past : known.evidence.results()) {
    const Subject subject{past.candidate, past.candidate_source_hash};
    if (past.candidate.variant != variant.id() || past.candidate_source_hash != variant.source_hash) {
      continue;
    }
    if (const auto effect = known.evidence.measured(known.incumbent, subject)) {
      measured.push_back({.settings = past.candidate.settings, .effect = effect->effect});
    }
  }
  const NeighbourhoodSearch strategy;
  return strategy.propose(variant.tunables, centre, measured, known.inputs.seed, kNeighboursEach);
}

// The neighbours of the incumbent, then of the variants that rank highest.
std::vector<Option> tuning_options(const Knowledge& known, const std::vector<Candidate>& ranked) {
  std::vector<std::pair<const Variant*, Settings>> centres = {
      {&known.inputs.diagnosis.incumbent, known.incumbent.configuration.settings}};
  for (const Candidate& candidate : ranked) {
    const auto found = std::ranges::find_if(known.inputs.variants, [&](const RegisteredVariant& registered) {
      return registered.variant.id() == candidate.configuration.variant;
    });
    if (found != known.inputs.variants.end() && !found->variant.tunables.empty() &&
        centres.size() <= kPromisingVariants) {
      centres.emplace_back(&found->variant, candidate.configuration.settings);
    }
  }
  std::vector<Option> options;
  for (const auto& [variant, settings] : centres) {
    for (const Settings& step : neighbours(known, *variant, settings)) {
      options.push_back({.variant = variant,
                         .configuration = {.variant = variant->id(), .settings = step},
                         .origin = Origin::tuning});
    }
  }
  return options;
}

void sort_by_score(std::vector<Candidate>& ranked, std::uint64_t seed) {
  const auto key = [&](const Candidate& candidate) {
    const std::string label = candidate.configuration.label();
    return std::tuple(-candidate.score, derive_seed(seed, label), label);
  };
  std::sort(ranked.begin(), ranked.end(), [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

}  // namespace

ResearchBrief research(const ResearchInputs& inputs) {
  const Evidence evidence(inputs);
  const Predictor predictor(inputs, evidence);
  const Variant& incumbent = inputs.diagnosis.incumbent;
  const Knowledge known{.inputs = inputs,
                        .evidence = evidence,
                        .predictor = predictor,
                        .incumbent = {normalised(inputs.incumbent, incumbent), incumbent.source_hash},
                        .bottlenecks = diagnose(inputs.diagnosis)};
  ResearchBrief brief{.bottlenecks = known.bottlenecks, .ranked = {}, .left_out = {}};
  consider_registered(known, brief);
  sort_by_score(brief.ranked, inputs.seed);
  for (const Option& option : tuning_options(known, brief.ranked)) {
    consider(known, option, brief);
  }
  sort_by_score(brief.ranked, inputs.seed);
  return brief;
}

std::vector<Idea> unwritten_ideas(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks) {
  const Variant& incumbent = inputs.diagnosis.incumbent;
  const auto written = [&](const std::string& name) {
    const auto has = [&](const Variant& variant) {
      return std::find(variant.techniques.begin(), variant.techniques.end(), name) != variant.techniques.end();
    };
    return has(incumbent) || std::any_of(inputs.variants.begin(), inputs.variants.end(),
                                         [&](const auto& one) { return one.supported && has(one.variant); });
  };
  std::vector<Idea> ideas;
  for (const Technique& technique : technique_catalogue()) {
    if (technique.target.value_or(incumbent.target) != incumbent.target || written(technique.name)) {
      continue;
    }
    const auto found = std::find_if(bottlenecks.begin(), bottlenecks.end(),
                                    [&](const Bottleneck& bottleneck) { return attacks(technique, bottleneck.name); });
    if (found != bottlenecks.end()) {
      const double middle = saving(std::sqrt(technique.low * technique.high));
      ideas.push_back({.technique = technique,
                       .attacks = found->name,
                       .score = inputs.share * std::min(middle, saving(found->bound)) / technique.cost});
    }
  }
  std::stable_sort(ideas.begin(), ideas.end(), [](const Idea& a, const Idea& b) { return a.score > b.score; });
  return ideas;
}

}  // namespace apo
