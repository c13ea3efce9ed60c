// harness/runtime/rearranged_inputs.h - new inputs out of drawn ones: as good as drawn anew, at the cost of a copy.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/runtime/input_store.h"

namespace apo {

// Returns inputs that the seed puts together as Family::redraw says, which is `units` or `elements`: parts of the drawn
// sets in another order. All sets are of one workload and regime.
InputSet rearranged(const Family& family, const std::vector<CheckedPointer>& drawn, std::uint64_t seed);

// Whether derived inputs move with their units: those of a rearranged set are what the family derives from its inputs.
bool derived_inputs_move(const Family& family, const std::vector<CheckedPointer>& drawn, int threads);

}  // namespace apo
