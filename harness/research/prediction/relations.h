// harness/research/prediction/relations.h - how two variants, or two settings of one, differ.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Returns the techniques of `variant` that `base` does not have.
std::vector<std::string> added_techniques(const Variant& variant, const Variant& base);
// Counts the steps between two settings along all tunables, whose values are ordered by size.
int steps_between(const std::vector<Tunable>& tunables, const Settings& from, const Settings& to);
// Returns the tunables that are toggles.
std::vector<Tunable> toggles_of(const Variant& variant);
// 1: the toggle is turned on, -1: off, 0: neither.
int turned(const Tunable& toggle, const Settings& from, const Settings& to);

}  // namespace apo
