// harness/research/research.cpp - collects candidates, leaves out what is known not to help, scores and sorts the rest.
#include "harness/research/research.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/core/text.h"
#include "harness/research/prediction/evidence.h"
#include "harness/research/prediction/prediction.h"
#include "harness/research/search.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr double kUntestedCost = 1.25;
constexpr double kExploration = 0.25;
constexpr double kUndiagnosed = 0.5;
constexpr double kUnknownFloorBound = 4.0;  // where no floor is known, 4x counts as the most there can be
constexpr int kPromisingVariants = 2;
constexpr int kNeighboursEach = 4;

// The part of today's time that a speed-up saves; 0 for a slow-down.
double saving(double speedup) {
  return speedup > 1 ? 1 - 1 / speedup : 0;
}

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

class Ranking {
 public:
  explicit Ranking(const ResearchInputs& inputs)
      : inputs_(inputs),
        evidence_(inputs),
        predictor_(inputs, evidence_),
        incumbent_{normalised(inputs.incumbent, inputs.diagnosis.incumbent), inputs.diagnosis.incumbent.source_hash} {
    brief_.bottlenecks = diagnose(inputs.diagnosis);
  }

  ResearchBrief run() {
    for (const RegisteredVariant& registered : inputs_.variants) {
      consider_registered(registered);
    }
    sort();
    for (const Option& option : tuning_options()) {
      consider(option);
    }
    sort();
    return std::move(brief_);
  }

 private:
  void consider_registered(const RegisteredVariant& registered) {
    const Variant& variant = registered.variant;
    const Option option{.variant = &variant,
                        .configuration = normalised({.variant = variant.id(), .settings = {}}, variant),
                        .origin = Origin::registered};
    if (variant.id() == incumbent_.configuration.variant && variant.source_hash == incumbent_.source_hash &&
        !(option.configuration == incumbent_.configuration)) {
      return;  // other settings of the incumbent are the search's business
    }
    if (!registered.supported) {
      leave_out(option, "unsupported: " + registered.why_not);
      return;
    }
    consider(option);
  }

  void leave_out(const Option& option, const std::string& why) {
    brief_.left_out.push_back({.configuration = option.configuration, .why = why});
  }

  bool is_incumbent(const Option& option) const {
    return option.variant->source_hash == incumbent_.source_hash &&
           option.configuration.settings == incumbent_.configuration.settings;
  }

  void consider(const Option& option) {
    if (is_incumbent(option)) {
      leave_out(option, "identical to the incumbent: same source, same settings");
      return;
    }
    const Subject subject{option.configuration, option.variant->source_hash};
    const std::string refuted = evidence_.refuted(subject, incumbent_);
    if (!refuted.empty()) {
      leave_out(option, refuted);
      return;
    }
    const Attack attack = attack_of(option);
    const Prediction prediction =
        predictor_.predict(*option.variant, option.configuration, floor_bound(inputs_.diagnosis.profile));
    // Held against the bound of what it attacks; a measurement is not held against anything.
    const Prediction bounded = is_measured(prediction) ? prediction : under(prediction, attack);
    if (!(std::log(bounded.high) > inputs_.minimum_detectable)) {
      leave_out(option, "predicted " + band_text(bounded) + " (" + bounded.because + "), and this machine resolves " +
                            format_percent(inputs_.minimum_detectable) + " at best");
      return;
    }
    brief_.ranked.push_back(candidate_of(option, attack, bounded));
  }

  // What attacks a bottleneck is held to the bound of that, unless the whole band lies above it: then the diagnosis
  // missed something. What attacks nothing that was found is less certain; the floor caps it already.
  static Prediction under(const Prediction& band, const Attack& attack) {
    if (attack.bottlenecks.empty()) {
      return unsupported(band);
    }
    return band.low < attack.bound ? capped(band, attack.bound) : band;
  }

  // The most that any change can give, for the score.
  double ceiling() const {
    const double bound = floor_bound(inputs_.diagnosis.profile);
    return std::isfinite(bound) ? bound : kUnknownFloorBound;
  }

  std::vector<std::string> new_techniques(const Option& option) const {
    return added_techniques(*option.variant, inputs_.diagnosis.incumbent);
  }

  // Savings of several bottlenecks add up, as far as the floor allows.
  Attack attack_of(const Option& option) const {
    const std::vector<std::string> techniques = option.origin == Origin::tuning && new_techniques(option).empty()
                                                    ? option.variant->techniques
                                                    : new_techniques(option);
    Attack attack;
    double saved = 0;
    for (const Bottleneck& bottleneck : brief_.bottlenecks) {  // the largest first
      if (any_attacks(techniques, option.variant->target, bottleneck.name)) {
        saved += saving(bottleneck.bound);
        attack.bottlenecks.push_back(bottleneck.name);
      }
    }
    const double most = saving(ceiling());
    const double fraction = attack.bottlenecks.empty() ? kUndiagnosed * most : std::min(saved, most);
    attack.bound = 1 / (1 - fraction);
    return attack;
  }

  double track_record(const std::vector<std::string>& techniques) const {
    if (techniques.empty()) {
      return 1;
    }
    double sum = 0;
    for (const std::string& technique : techniques) {
      sum += evidence_.track_record(technique);
    }
    return sum / static_cast<double>(techniques.size());
  }

  Candidate candidate_of(const Option& option, const Attack& attack, const Prediction& prediction) const {
    const bool tried = evidence_.tries(option.variant->id(), option.variant->source_hash) > 0;
    const bool passed = tried || option.variant->id() == incumbent_.configuration.variant;
    const double middle = saving(std::exp(log_middle(prediction)));
    const double most = std::max(saving(attack.bound), middle);
    const double prior = most > 0 ? middle / most : 0;
    const double evidence = is_measured(prediction) ? 1 : track_record(new_techniques(option));
    const double cost = passed ? 1 : kUntestedCost;
    const double exploration = tried ? 0 : kExploration * (saving(prediction.high) - middle);
    return {.configuration = option.configuration,
            .techniques = option.variant->techniques,
            .prediction = prediction,
            .attacks = attack.bottlenecks.empty() ? "" : attack.bottlenecks.front(),
            .score = inputs_.share * (most * prior * evidence / cost + exploration),
            .why = sentence(option, attack, prediction, tried),
            .origin = option.origin};
  }

  static std::string band_text(const Prediction& band) {
    return format_g(band.low, 3) + "x..." + format_g(band.high, 3) + "x";
  }

  std::string sentence(const Option& option, const Attack& attack, const Prediction& prediction, bool tried) const {
    const std::string target = attack.bottlenecks.empty()
                                   ? "attacks nothing that was found"
                                   : "attacks " + join(attack.bottlenecks, " and ") + ", which could give at most " +
                                         format_ratio(attack.bound) +
                                         (attack.bottlenecks.size() > 1 ? " together" : "");
    return option.variant->name + " " + target + "; predicted " + band_text(prediction) + " (" + prediction.because +
           ")" + (tried ? "" : "; never tried here") + ".";
  }

  // The neighbours of the incumbent, then of the variants that rank highest.
  std::vector<Option> tuning_options() const {
    std::vector<std::pair<const Variant*, Settings>> centres = {
        {&inputs_.diagnosis.incumbent, incumbent_.configuration.settings}};
    for (const Candidate& candidate : brief_.ranked) {
      const Variant* variant = find(candidate.configuration.variant);
      if (variant != nullptr && !variant->tunables.empty() && centres.size() <= kPromisingVariants) {
        centres.emplace_back(variant, candidate.configuration.settings);
      }
    }
    std::vector<Option> options;
    for (const auto& [variant, settings] : centres) {
      for (const Settings& step : neighbours(*variant, settings)) {
        options.push_back({.variant = variant,
                           .configuration = {.variant = variant->id(), .settings = step},
                           .origin = Origin::tuning});
      }
    }
    return options;
  }

  std::vector<Settings> neighbours(const Variant& variant, const Settings& centre) const {
    std::vector<MeasuredSettings> measured;
    for (const PastResult& past : evidence_.results()) {
      const Subject subject{past.candidate, past.candidate_source_hash};
      if (past.candidate.variant != variant.id() || past.candidate_source_hash != variant.source_hash) {
        continue;
      }
      if (const auto effect = evidence_.measured(incumbent_, subject)) {
        measured.push_back({.settings = past.candidate.settings, .effect = effect->effect});
      }
    }
    const NeighbourhoodSearch strategy;
    return strategy.propose(variant.tunables, centre, measured, inputs_.seed, kNeighboursEach);
  }

  const Variant* find(const std::string& id) const {
    for (const RegisteredVariant& registered : inputs_.variants) {
      if (registered.variant.id() == id) {
        return &registered.variant;
      }
    }
    return nullptr;
  }

  void sort() {
    const auto key = [&](const Candidate& candidate) {
      const std::string label = candidate.configuration.label();
      return std::tuple(-candidate.score, derive_seed(inputs_.seed, label), label);
    };
    std::sort(brief_.ranked.begin(), brief_.ranked.end(),
              [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  }

  const ResearchInputs& inputs_;
  Evidence evidence_;
  Predictor predictor_;
  Subject incumbent_;
  ResearchBrief brief_;
};

}  // namespace

ResearchBrief research(const ResearchInputs& inputs) {
  return Ranking(inputs).run();
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
