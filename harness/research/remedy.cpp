// harness/research/remedy.cpp - techniques against bottlenecks.
#include "harness/research/remedy.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "harness/core/techniques/techniques.h"
#include "harness/research/catalogue/requirements.h"

namespace apo {
namespace {

// What the ancestors of a variant apply: many variants name only what they add to their parent.
std::set<std::string> inherited_techniques(const ResearchInputs& inputs, const Variant& variant) {
  std::set<std::string> techniques;
  std::set<std::string> seen = {variant.id()};
  for (const RegisteredVariant* one = inputs.registered(variant.parent);
       one != nullptr && seen.insert(one->variant.id()).second; one = inputs.registered(one->variant.parent)) {
    techniques.insert(one->variant.techniques.begin(), one->variant.techniques.end());
  }
  return techniques;
}

// What the option applies and the incumbent does not.
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

// Those that cannot be applied here attack nothing.
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

}  // namespace apo
