// harness/research/remedy.cpp - matches the new techniques of an option with the bottlenecks of the incumbent.
#include "harness/research/remedy.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "harness/core/techniques/techniques.h"
#include "harness/research/catalogue/requirements.h"

namespace apo {
namespace {

// Returns the techniques of all ancestors: many variants name only those that they add to their parent.
std::set<std::string> inherited_techniques(const ResearchInputs& inputs, const Variant& variant) {
  std::set<std::string> techniques;
  std::set<std::string> seen = {variant.id()};
  for (const RegisteredVariant* one = inputs.registered(variant.parent);
       one != nullptr && seen.insert(one->variant.id()).second; one = inputs.registered(one->variant.parent)) {
    techniques.insert(one->variant.techniques.begin(), one->variant.techniques.end());
  }
  return techniques;
}

// Returns the techniques that the option applies and the incumbent does not.
std::vector<std::string> new_techniques(const ResearchInputs& inputs, const Option& option) {
  const Variant& incumbent = inputs.diagnosis.incumbent;
  std::vector<std::string> techniques = techniques_of(*option.variant, option.configuration.settings);
  const std::set<std::string> incumbents = inherited_techniques(inputs, incumbent);
  for (const std::string& technique : inherited_techniques(inputs, *option.variant)) {
    if (!incumbents.contains(technique) && std::ranges::find(techniques, technique) == techniques.end()) {
      techniques.push_back(technique);
    }
  }
  const std::vector<std::string> old = techniques_of(incumbent, inputs.incumbent.settings);
  std::erase_if(techniques,
                [&](const std::string& technique) { return std::ranges::find(old, technique) != old.end(); });
  return techniques;
}

// A technique that cannot be applied here attacks nothing.
std::vector<std::string> applicable(const ResearchInputs& inputs, const Option& option,
                                    std::vector<std::string> techniques) {
  std::erase_if(techniques, [&](const std::string& name) {
    const Technique* technique = find_technique(name, option.variant->target);
    return technique != nullptr && !why_not_here(*technique, inputs).empty();
  });
  return techniques;
}

}  // namespace

bool uses_tensor_cores(const std::vector<std::string>& techniques, Target target) {
  return std::ranges::any_of(techniques, [&](const std::string& name) {
    const Technique* technique = find_technique(name, target);
    return technique != nullptr && technique->tensor_cores;
  });
}

double saving(double speedup) {
  return speedup > 1 ? 1 - 1 / speedup : 0;
}

double floor_bound(const ResearchInputs& inputs, const Option& option) {
  const Profile& profile = inputs.diagnosis.profile;
  return uses_tensor_cores(new_techniques(inputs, option), option.variant->target)
             ? floor_bound_on_tensor_cores(profile)
             : floor_bound(profile);
}

Remedy remedy_of(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks, const Option& option) {
  std::vector<std::string> techniques = new_techniques(inputs, option);
  if (option.origin == Origin::tuning && techniques.empty()) {
    techniques = option.variant->techniques;
  }
  techniques = applicable(inputs, option, std::move(techniques));
  Remedy remedy;
  double saved = 0;
  for (const Bottleneck& bottleneck : bottlenecks) {  // the largest first
    if (any_attacks(techniques, option.variant->target, bottleneck.name)) {
      saved += saving(bottleneck.bound);
      remedy.bottlenecks.push_back(bottleneck.name);
      remedy.has_cause |= bottleneck.kind == BottleneckKind::cause;
    }
  }
  constexpr double kEverything = 1000;  // as amdahl() has it
  const double floor = floor_bound(inputs, option);
  const double most = std::isfinite(floor) ? floor : kEverything;
  remedy.bound = remedy.bottlenecks.empty() ? most : 1 / (1 - std::min(saved, saving(most)));
  return remedy;
}

std::optional<Prediction> remedy_band(const ResearchInputs& inputs, const std::vector<Bottleneck>& causes,
                                      const Variant& variant) {
  const Option option{.variant = &variant,
                      .configuration = normalised({.variant = variant.id(), .settings = {}}, variant)};
  const Remedy remedy = remedy_of(inputs, causes, option);
  if (remedy.bottlenecks.empty()) {
    return std::nullopt;
  }
  const double left = std::max(floor_bound(inputs, option) / remedy.bound, 1.0);
  const double more = std::isfinite(left) ? std::pow(left, saving(remedy.bound)) : 1;
  return Prediction{.low = remedy.bound, .high = remedy.bound * more};
}

}  // namespace apo
