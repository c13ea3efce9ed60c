// harness/research/catalogue/techniques.h - what is known of each technique before this machine tried it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/research/catalogue/technique.h"

namespace apo {

const std::vector<Technique>& technique_catalogue();

// Returns the entry for this target; nullptr when unknown.
const Technique* find_technique(std::string_view name, Target target);

bool attacks(const Technique& technique, std::string_view bottleneck);
// True when one of `techniques` is known to attack the bottleneck.
bool any_attacks(const std::vector<std::string>& techniques, Target target, std::string_view bottleneck);

}  // namespace apo
