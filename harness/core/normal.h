// harness/core/normal.h - the standard normal distribution.
#pragma once

namespace apo {

double normal_quantile(double probability);  // in (0, 1)
double normal_probability(double x);         // of a value below `x`

}  // namespace apo
