// harness/research/prediction/statements.cpp - states judgements, promises and relations.
#include "harness/research/prediction/statements.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/core/techniques/techniques.h"
#include "harness/research/remedy.h"

namespace apo {
namespace {

// Standard deviations in logs, which add in squares. Chosen so that on the journals under experiments/ the bands hold
// four of five (experiments/foresight).
constexpr double kOtherText = 0.15;          // another text of one variant
constexpr double kOtherSettings = 0.2;       // settings beside the defaults,
constexpr double kOtherSettingsLose = 0.06;  // which somebody chose: others lose so much on average
constexpr double kPromise = 0.4;             // a promise, and this part of what it says
constexpr std::size_t kNewest = 1000;

// What somebody says of an effect.
struct Promise {
  double effect = 0;
  double sd = 0;  // as stated
  Basis basis = Basis::author;
};

Promise promise_of(const Prediction& band) {
  return {.effect = 0.5 * std::log(band.low * band.high), .sd = 0.5 * std::log(band.high / band.low) / kBandReach};
}

// The product of what the techniques that `variant` adds gave elsewhere, where their preconditions hold.
std::optional<Promise> promise_of_techniques(const Variant& variant, const Variant& base,
                                             const ResearchInputs& inputs) {
  std::optional<Promise> promise;
  for (const std::string& name : variant.techniques) {
    const bool added = std::ranges::find(base.techniques, name) == base.techniques.end();
    const Technique* technique = added ? find_technique(name, variant.target) : nullptr;
    if (technique != nullptr && why_not_here(*technique, inputs).empty()) {
      promise = promise.value_or(Promise{.basis = Basis::technique});
      promise->effect += 0.5 * std::log(technique->low * technique->high);
    }
  }
  return promise;
}

Subject untuned(const Variant& variant) {
  return {normalised({.variant = variant.id(), .settings = {}}, variant), variant.source_hash};
}

class Collection {
 public:
  Collection(const ResearchInputs& inputs, const Evidence& evidence) : inputs_(inputs) {
    const Variant& incumbent = inputs.diagnosis.incumbent;
    state_variant(incumbent);
    state_relation({normalised(inputs.incumbent, incumbent), incumbent.source_hash});
    for (const RegisteredVariant& registered : inputs.variants) {
      if (registered.variant.id() == incumbent.id()) {
        state_relation(untuned(registered.variant));
      } else {
        state_variant(registered.variant);
      }
    }
    std::ranges::for_each(inputs.proposed, [&](const ProposedSettings& one) { state_proposed(one); });
    const std::vector<PastResult>& past = evidence.results();
    std::for_each(past.end() - static_cast<std::ptrdiff_t>(std::min(past.size(), kNewest)), past.end(),
                  [&](const PastResult& one) { state_judgement(one); });
  }
  Statements take() { return std::move(all_); }

 private:
  const Variant* find(const std::string& id) const {
    const RegisteredVariant* found = inputs_.registered(id);
    return id == inputs_.diagnosis.incumbent.id() ? &inputs_.diagnosis.incumbent
           : found == nullptr                     ? nullptr
                                                  : &found->variant;
  }

  std::size_t node(const Subject& subject) {
    return all_.nodes.try_emplace({subject.configuration.label(), subject.source_hash}, all_.nodes.size())
        .first->second;
  }

  void state(const Subject& from, const Subject& to, const Promise& promise, std::int64_t experiment = 0) {
    if (!(from == to)) {
      all_.effects.push_back({.from = node(from),
                              .to = node(to),
                              .effect = promise.effect,
                              .sd = promise.sd,
                              .basis = promise.basis,
                              .experiment = experiment});
    }
  }

  void state_promise(const Subject& from, const Subject& to, Promise promise) {
    promise.sd = std::hypot(promise.sd, kPromise, kPromise * promise.effect);
    state(from, to, promise);
  }

  void state_variant(const Variant& variant) {
    const Subject to = untuned(variant);
    node(to);
    const bool own = variant.prediction && is_band(*variant.prediction);
    const bool of_parent = !own || variant.prediction->relative_to == "parent";
    const std::string over = of_parent ? variant.parent : variant.prediction->relative_to;
    const Variant* base = find(over.find('/') == std::string::npos ? variant.family + "/" + over : over);
    if (base == nullptr) {
      return;
    }
    const auto promise =
        own ? std::optional(promise_of(*variant.prediction)) : promise_of_techniques(variant, *base, inputs_);
    if (promise) {
      state_promise(untuned(*base), to, *promise);
    }
  }

  // To the present text, and there to the defaults.
  void state_relation(const Subject& subject) {
    const std::size_t known = all_.nodes.size();
    const Variant* variant = find(subject.configuration.variant);
    if (node(subject) < known || variant == nullptr) {
      return;
    }
    const Subject present{normalised(subject.configuration, *variant), variant->source_hash};
    if (subject.source_hash != present.source_hash) {
      state_relation(present);
      state(present, subject, {.sd = kOtherText, .basis = Basis::relation});
    } else {
      state(untuned(*variant), subject,
            {.effect = -kOtherSettingsLose, .sd = kOtherSettings, .basis = Basis::relation});
    }
  }

  void state_proposed(const ProposedSettings& proposed) {
    const Variant* variant = find(proposed.configuration.variant);
    if (variant == nullptr) {
      return;
    }
    const Subject to{normalised(proposed.configuration, *variant), variant->source_hash};
    state_relation(to);
    if (proposed.prediction && is_band(*proposed.prediction)) {
      const Variant& incumbent = inputs_.diagnosis.incumbent;
      state_promise({normalised(inputs_.incumbent, incumbent), incumbent.source_hash}, to,
                    promise_of(*proposed.prediction));
    }
  }

  void state_judgement(const PastResult& past) {
    const bool finite = std::isfinite(past.effect) && std::isfinite(past.upper - past.lower);
    if (!past.timed || !finite || past.upper < past.lower) {
      return;
    }
    const Subject from = present({past.incumbent, past.incumbent_source_hash});
    const Subject to = present({past.candidate, past.candidate_source_hash});
    state_relation(from);
    state_relation(to);
    state(from, to,
          {.effect = past.effect,
           .sd = deviation_here(inputs_, past),
           .basis = is_same_place(inputs_, past) ? Basis::here : Basis::elsewhere},
          past.experiment);
  }

  // With the settings that the registered text has.
  Subject present(const Subject& subject) const {
    const Variant* variant = find(subject.configuration.variant);
    return {variant == nullptr ? subject.configuration : normalised(subject.configuration, *variant),
            subject.source_hash};
  }

  const ResearchInputs& inputs_;
  Statements all_;
};

}  // namespace

std::optional<std::size_t> Statements::find(const Subject& subject) const {
  const auto found = nodes.find({subject.configuration.label(), subject.source_hash});
  return found == nodes.end() ? std::nullopt : std::optional(found->second);
}

Statements collect_statements(const ResearchInputs& inputs, const Evidence& evidence) {
  return Collection(inputs, evidence).take();
}

}  // namespace apo
