// harness/loop/contract/tolerance_checks.h - how wide a family's tolerance is, and what makes it so.
#pragma once

#include <string>
#include <vector>

#include "harness/loop/contract/reference_checks.h"
#include "harness/runtime/tensor_data.h"

namespace apo {

// Holds the tolerance of one typical case against the values that it bounds, and the author's against the derived one.
// Throws a UserError for a derived bound that is wide for no reason that the file gives, with the operation that causes
// it; for an apo:tolerance that is wider than the derived one without a reason; and for integers most of which nothing
// decides. Adds a note on a bound that is wide.
void check_tolerance(const CheckedFamily& subject, const Case& each, const InputSet& inputs, const Expected& expected,
                     std::vector<std::string>& notes);

// Adds a note that names the inputs which a function of the file draws: no regime changes them.
void note_inputs_without_regimes(const CheckedFamily& subject, std::vector<std::string>& notes);

}  // namespace apo
