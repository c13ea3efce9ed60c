// harness/core/normal.cpp - computes probabilities, and quantiles by bisection of the error function.
#include "harness/core/normal.h"

#include <cmath>
#include <numbers>

namespace apo {

double normal_probability(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normal_quantile(double probability) {
  double low = -40;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    (normal_probability(middle) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace apo
