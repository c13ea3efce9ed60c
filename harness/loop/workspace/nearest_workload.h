// harness/loop/workspace/nearest_workload.h - how far two sizes are apart: the sum over the axes of |ln a - ln b|.
#pragma once

#include <string>

#include "kernels/family.h"

namespace apo {

double distance(const Family& family, const Axes& a, const Axes& b);

// Returns an expression over the axes that holds for the sizes which are at least as near to `one` as to `other`. On
// the border it is exact to a part in a thousand.
std::string nearer_condition(const Family& family, const Axes& one, const Axes& other);

}  // namespace apo
