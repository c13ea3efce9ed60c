// harness/implement/object/layout.h - draws the order of functions and constants in the shared object.
#pragma once

#include <cstdint>
#include <string>

#include "harness/implement/object/elf.h"

namespace apo {

// Returns a GNU ld script that adds to the default one: functions in random order with random gaps (multiples of 64
// bytes, so that -falign-functions holds), constants likewise. Code addresses are worth percents (Mytkowicz et al.
// 2009); drawing them anew makes that a random effect instead of a fixed bias. The instructions do not change.
std::string layout_script(const ObjectFacts& object, std::uint64_t seed);

}  // namespace apo
