// harness/research/catalogue/lookup.cpp - finds a technique and the bottlenecks that it attacks.
#include <algorithm>

#include "harness/research/catalogue/techniques.h"

namespace apo {

const Technique* find_technique(std::string_view name, Target target) {
  for (const Technique& technique : technique_catalogue()) {
    if (technique.name == name && technique.target.value_or(target) == target) {
      return &technique;
    }
  }
  return nullptr;
}

bool attacks(const Technique& technique, std::string_view bottleneck) {
  return std::find(technique.attacks.begin(), technique.attacks.end(), bottleneck) != technique.attacks.end();
}

bool any_attacks(const std::vector<std::string>& techniques, Target target, std::string_view bottleneck) {
  return std::any_of(techniques.begin(), techniques.end(), [&](const std::string& name) {
    const Technique* technique = find_technique(name, target);
    return technique != nullptr && attacks(*technique, bottleneck);
  });
}

}  // namespace apo
