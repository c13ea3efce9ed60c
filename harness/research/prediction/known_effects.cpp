// harness/research/prediction/known_effects.cpp - states judgements, promises and relations.
#include <algorithm>
#include <cmath>
#include <set>

#include "harness/core/techniques/techniques.h"
#include "harness/research/diagnosis/rules.h"
#include "harness/research/prediction/prediction.h"
#include "harness/research/remedy.h"

namespace apo {
namespace {

// Standard deviations in logs, which add in squares. Chosen so that on the journals under experiments/ the bands hold
// four of five (experiments/foresight).
constexpr double kOtherText = 0.1;        // another text of one variant
constexpr double kStep = 0.15;            // one step of a tunable,
constexpr double kStepLoss = 0.04;        // which loses so much on average, away from what is known
constexpr double kSwitch = 0.1;           // a toggle that was judged in other settings
constexpr double kSpread = 0.5;           // of multiprocessors that get work: this part of their logarithm is gained,
constexpr double kSpreadOff = 0.3;        // give or take this part
constexpr double kPromise = 0.3;          // a promise of which nothing came true or failed yet,
constexpr double kPromiseOfMiddle = 0.3;  // and this part of what it says
constexpr double kPriorWeight = 4;        // judgements that a promise's record has before the first one
constexpr std::size_t kNewest = 1000;

double square(double x) {
  return x * x;
}

double prior_of(const Technique& technique) {
  return 0.5 * (std::log(technique.low) + std::log(technique.high));
}

// Multiplies the priors of the techniques that `variant` adds and whose preconditions hold; nullopt if there are none.
std::optional<double> prior_over(const Variant& variant, const Variant& base, const ResearchInputs& inputs) {
  std::optional<double> effect;
  for (const std::string& name : added_techniques(variant, base)) {
    const Technique* technique = find_technique(name, variant.target);
    if (technique != nullptr && why_not_here(*technique, inputs).empty()) {
      effect = effect.value_or(0) + prior_of(*technique);
    }
  }
  return effect;
}

std::vector<Bottleneck> causes_of(const Diagnosis& diagnosis) {
  std::vector<Bottleneck> causes = diagnose(diagnosis);
  std::erase_if(causes, [](const Bottleneck& one) { return one.kind != BottleneckKind::cause; });
  return causes;
}

Subject untuned(const Variant& variant) {
  return {normalised({.variant = variant.id(), .settings = {}}, variant), variant.source_hash};
}

}  // namespace

double log_middle(const Prediction& band) {
  return 0.5 * (std::log(band.low) + std::log(band.high));
}

KnownEffects::KnownEffects(const ResearchInputs& inputs, const Evidence& evidence)
    : inputs_(inputs),
      causes_(causes_of(inputs.diagnosis)),
      incumbent_{normalised(inputs.incumbent, inputs.diagnosis.incumbent), inputs.diagnosis.incumbent.source_hash} {
  for (const PastResult& past : evidence.results()) {
    const bool finite =
        std::isfinite(past.effect) && std::isfinite(past.upper - past.lower) && past.upper >= past.lower;
    if (past.timed && finite) {
      past_.push_back(past);
    }
  }
  past_.erase(past_.begin(), past_.end() - static_cast<std::ptrdiff_t>(std::min(past_.size(), kNewest)));
  collect_nodes();
  state_judgements();
  collect_switches();
  records_ = all_records();
  state_promises();
  state_proposed();
  state_relations();
}

const Variant* KnownEffects::find(const std::string& id) const {
  if (id == inputs_.diagnosis.incumbent.id()) {
    return &inputs_.diagnosis.incumbent;
  }
  const RegisteredVariant* found = inputs_.registered(id);
  return found == nullptr ? nullptr : &found->variant;
}

std::size_t KnownEffects::node(const Subject& subject) {
  const auto [known, added] =
      nodes_.try_emplace({subject.configuration.label(), subject.source_hash}, subjects_.size());
  if (added) {
    subjects_.push_back(subject);
  }
  return known->second;
}

// An unregistered text of a variant has a node beside the registered one.
void KnownEffects::collect_nodes() {
  node(untuned(inputs_.diagnosis.incumbent));
  node(incumbent_);
  for (const RegisteredVariant& registered : inputs_.variants) {
    node(untuned(registered.variant));
  }
  for (const ProposedSettings& proposed : inputs_.proposed) {
    if (const Variant* variant = find(proposed.configuration.variant)) {
      node({normalised(proposed.configuration, *variant), variant->source_hash});
    }
  }
  for (PastResult& past : past_) {
    for (auto [configuration, hash] : {std::pair(&past.candidate, &past.candidate_source_hash),
                                       std::pair(&past.incumbent, &past.incumbent_source_hash)}) {
      if (const Variant* variant = find(configuration->variant)) {
        *configuration = normalised(*configuration, *variant);
        node({*configuration, variant->source_hash});
      }
      node({*configuration, *hash});
    }
  }
}

// Returns how much more of the GPU works here than on the workload of the judgement, in logs: the candidate's gain less
// the incumbent's. An unregistered variant counts as the same on both.
double KnownEffects::spread_since(const PastResult& past) const {
  const std::string& here = inputs_.diagnosis.profile.workload;
  if (past.workload.empty() || past.workload == here) {
    return 0;
  }
  const auto more = [&](const Configuration& configuration) {
    const Variant* variant = find(configuration.variant);
    return variant == nullptr ? 0
                              : std::log(busy_part(inputs_, here, *variant, configuration.settings) /
                                         busy_part(inputs_, past.workload, *variant, configuration.settings));
  };
  return more(past.candidate) - more(past.incumbent);
}

void KnownEffects::state_judgements() {
  for (const PastResult& past : past_) {
    const std::size_t from = nodes_.at({past.incumbent.label(), past.incumbent_source_hash});
    const std::size_t to = nodes_.at({past.candidate.label(), past.candidate_source_hash});
    if (from != to) {
      const double spread = spread_since(past);
      statements_.push_back({.from = from,
                             .to = to,
                             .effect = past.effect + kSpread * spread,
                             .sd = std::hypot(deviation_here(inputs_, past), kSpreadOff * spread),
                             .basis = is_same_place(inputs_, past) ? Basis::here : Basis::elsewhere,
                             .experiment = past.experiment});
    }
  }
}

// Judgements of two settings of a variant that differ in one toggle.
void KnownEffects::collect_switches() {
  struct Sums {
    double weight = 0;
    double effect = 0;
  };
  std::map<std::pair<std::string, std::string>, Sums> sums;
  for (const StatedEffect& one : statements_) {
    const Configuration &from = subjects_[one.from].configuration, &to = subjects_[one.to].configuration;
    const Variant* variant = from.variant == to.variant ? find(from.variant) : nullptr;
    if (variant == nullptr || steps_between(variant->tunables, from.settings, to.settings) != 1) {
      continue;
    }
    for (const Tunable& toggle : toggles_of(*variant)) {
      if (const int turn = turned(toggle, from.settings, to.settings); turn != 0) {
        const double weight = 1 / (square(std::max(one.sd, EffectNetwork::kSharpest)) + square(kSwitch));
        Sums& sum = sums[{variant->id(), toggle.name}];
        sum.weight += weight;
        sum.effect += weight * turn * one.effect;
      }
    }
  }
  for (const auto& [toggle, sum] : sums) {
    switches_[toggle] = {.effect = sum.effect / sum.weight, .sd = std::max(kSwitch, 1 / std::sqrt(sum.weight))};
  }
}

// An unjudged toggle counts as its technique.
KnownEffects::Step KnownEffects::switch_on(const Variant& variant, const Tunable& toggle) const {
  if (const auto judged = switches_.find({variant.id(), toggle.name}); judged != switches_.end()) {
    return judged->second;
  }
  const Technique* technique = find_technique(toggle.technique, variant.target);
  if (technique == nullptr) {
    return {.sd = kPromise};
  }
  const Record& record = records_.at({Basis::technique, ""});
  const double promised = prior_of(*technique);
  return {.effect = promised + record.shift,
          .sd = std::sqrt(square(record.sd) + square(kPromiseOfMiddle * promised)),
          .basis = Basis::technique};
}

// Settings that spread over idle multiprocessors gain by that alone.
KnownEffects::Step KnownEffects::step(const Variant& variant, const Settings& from, const Settings& to) const {
  std::vector<Tunable> parameters = variant.tunables;
  std::erase_if(parameters, [](const Tunable& tunable) { return !tunable.technique.empty(); });
  const int away = steps_between(parameters, from, to);
  const std::string& workload = inputs_.diagnosis.profile.workload;
  const double spread =
      std::log(busy_part(inputs_, workload, variant, to) / busy_part(inputs_, workload, variant, from));
  Step step{.effect = kSpread * spread - kStepLoss * away};
  double variance = square(kStep) * away + square(kSpreadOff * spread);
  for (const Tunable& toggle : toggles_of(variant)) {
    if (const int turn = turned(toggle, from, to); turn != 0) {
      const Step one = switch_on(variant, toggle);
      step.effect += turn * one.effect;
      variance += square(one.sd);
      step.basis = one.basis;
    }
  }
  step.sd = std::sqrt(variance > 0 ? variance : square(kStep));
  return step;
}

std::optional<KnownEffects::Nearest> KnownEffects::nearest(const Variant& variant, const Settings& settings,
                                                           std::size_t before) const {
  std::optional<Nearest> nearest;
  int fewest = 0;
  for (std::size_t at = 0; at < std::min(before, subjects_.size()); ++at) {
    const Subject& subject = subjects_[at];
    if (subject.configuration.variant != variant.id() || subject.source_hash != variant.source_hash) {
      continue;
    }
    const int steps = steps_between(variant.tunables, subject.configuration.settings, settings);
    if (!nearest || steps < fewest) {
      nearest = Nearest{.node = at};
      fewest = steps;
    }
  }
  if (nearest && fewest > 0) {
    nearest->step = step(variant, subjects_[nearest->node].configuration.settings, settings);
  }
  return nearest;
}

// Relates each text to the registered one, and each setting of a text to the nearest earlier one.
void KnownEffects::state_relations() {
  for (std::size_t to = 0; to < subjects_.size(); ++to) {
    const Subject& subject = subjects_[to];
    const Variant* variant = find(subject.configuration.variant);
    if (variant == nullptr) {
      continue;
    }
    if (subject.source_hash != variant->source_hash) {
      const std::size_t current = nodes_.at({subject.configuration.label(), variant->source_hash});
      statements_.push_back({.from = current, .to = to, .effect = 0, .sd = kOtherText});
    } else if (const auto beside = nearest(*variant, subject.configuration.settings, to)) {
      statements_.push_back({.from = beside->node, .to = to, .effect = beside->step.effect, .sd = beside->step.sd});
    }
  }
}

KnownEffects::Promise KnownEffects::promise_of(const Prediction& band) {
  return {.effect = log_middle(band), .sd = 0.5 * std::log(band.high / band.low) / kBandReach, .basis = Basis::author};
}

std::optional<KnownEffects::Promise> KnownEffects::promise_of(const Variant& variant) const {
  const bool own = variant.prediction && is_band(*variant.prediction);
  std::string base =
      !own || variant.prediction->relative_to == "parent" ? variant.parent : variant.prediction->relative_to;
  if (!base.empty() && base.find('/') == std::string::npos) {
    base = variant.family + "/" + base;
  }
  const Variant* over = find(base);
  if (over == nullptr || over->id() == variant.id()) {
    return std::nullopt;
  }
  if (own) {
    Promise promise = promise_of(*variant.prediction);
    promise.base = over;
    return promise;
  }
  const std::optional<double> prior = prior_over(variant, *over, inputs_);
  const bool is_counted = over->id() == inputs_.diagnosis.incumbent.id();
  const auto band = is_counted ? remedy_band(inputs_, causes_, variant) : std::nullopt;
  if (band && log_middle(*band) > prior.value_or(0)) {  // its counters say more than what techniques gave elsewhere
    return Promise{.base = over, .effect = log_middle(*band), .sd = promise_of(*band).sd, .basis = Basis::technique};
  }
  return prior ? std::optional(Promise{.base = over, .effect = *prior, .sd = 0, .basis = Basis::technique})
               : std::nullopt;
}

// Returns the errors of the variant's promise of this kind, against its mean measured effect over its base, and of the
// priors of its toggles. Empty if nothing was measured.
std::vector<double> KnownEffects::misses_of(const RegisteredVariant& registered, Basis basis) const {
  std::vector<double> misses;
  const Variant& variant = registered.variant;
  if (const auto promise = promise_of(variant); promise && promise->basis == basis) {
    const Configuration to = untuned(variant).configuration, from = untuned(*promise->base).configuration;
    double effect = 0;
    int judged = 0;
    for (const StatedEffect& one : statements_) {
      if (subjects_[one.from].configuration == from && subjects_[one.to].configuration == to) {
        effect += one.effect;
        ++judged;
      }
    }
    if (judged > 0) {
      misses.push_back(effect / judged - promise->effect);
    }
  }
  for (const Tunable& toggle : basis == Basis::technique ? toggles_of(variant) : std::vector<Tunable>()) {
    const auto judged = switches_.find({variant.id(), toggle.name});
    const Technique* technique = find_technique(toggle.technique, variant.target);
    if (judged != switches_.end() && technique != nullptr) {
      misses.push_back(judged->second.effect - prior_of(*technique));
    }
  }
  return misses;
}

// Each variant and each toggle counts once.
KnownEffects::Record KnownEffects::record_of(Basis basis, const std::string& author) const {
  double count = kPriorWeight;
  double sum = 0;
  double squares = kPriorWeight * square(kPromise);
  for (const RegisteredVariant& registered : inputs_.variants) {
    for (const double off : registered.author == author ? misses_of(registered, basis) : std::vector<double>()) {
      count += 1;
      sum += off;
      squares += square(off);
    }
  }
  return {.shift = sum / count, .sd = std::sqrt(squares / count - square(sum / count))};
}

std::string KnownEffects::author_of(const Variant& variant) const {
  const RegisteredVariant* found = inputs_.registered(variant.id());
  return found == nullptr ? "" : found->author;
}

// Called before promises become statements themselves.
KnownEffects::Records KnownEffects::all_records() const {
  std::set<std::string> authors = {""};
  for (const RegisteredVariant& registered : inputs_.variants) {
    authors.insert(registered.author);
  }
  for (const ProposedSettings& proposed : inputs_.proposed) {
    authors.insert(proposed.author);
  }
  Records records;
  for (const std::string& author : authors) {
    for (const Basis basis : {Basis::author, Basis::technique}) {
      records[{basis, author}] = record_of(basis, author);
    }
  }
  return records;
}

void KnownEffects::state_promise(std::size_t from, std::size_t to, const Promise& promise, const Record& record) {
  statements_.push_back(
      {.from = from,
       .to = to,
       .effect = promise.effect + record.shift,
       .sd = std::sqrt(square(promise.sd) + square(record.sd) + square(kPromiseOfMiddle * promise.effect)),
       .basis = promise.basis});
}

void KnownEffects::state_promises() {
  std::set<std::string> stated;
  const auto state = [&](const Variant& variant) {
    const auto promise = promise_of(variant);
    if (!promise || !stated.insert(variant.id()).second) {
      return;
    }
    const auto from = nodes_.find({untuned(*promise->base).configuration.label(), promise->base->source_hash});
    const auto to = nodes_.find({untuned(variant).configuration.label(), variant.source_hash});
    if (from != nodes_.end() && to != nodes_.end()) {
      state_promise(from->second, to->second, *promise, records_.at({promise->basis, author_of(variant)}));
    }
  };
  state(inputs_.diagnosis.incumbent);
  for (const RegisteredVariant& registered : inputs_.variants) {
    state(registered.variant);
  }
}

void KnownEffects::state_proposed() {
  for (const ProposedSettings& proposed : inputs_.proposed) {
    const Variant* variant = find(proposed.configuration.variant);
    if (variant == nullptr || !proposed.prediction || !is_band(*proposed.prediction)) {
      continue;
    }
    const std::size_t to = nodes_.at({normalised(proposed.configuration, *variant).label(), variant->source_hash});
    if (to != incumbent()) {
      state_promise(incumbent(), to, promise_of(*proposed.prediction), records_.at({Basis::author, proposed.author}));
    }
  }
}

}  // namespace apo
