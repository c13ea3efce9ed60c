// kernels/closeness.cpp - how near an output is to the reference; the formulas stand at struct Tolerance.
#include "kernels/closeness.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace apo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 0/0 is 0: an element that must be equal and is.
double ratio(double above, double below) {
  if (above <= 0) {
    return 0;
  }
  return below > 0 ? above / below : kInfinity;  // a NaN above lands here or divides to NaN
}

double square(double x) {
  return x * x;
}

// Of a value that is NaN or infinite.
bool is_same(double expected, double actual) {
  return std::isnan(expected) ? std::isnan(actual) : actual == expected;
}

double rounding_at(const Tolerance& tolerance, double expected) {
  return std::max(tolerance.output_rounding * std::fabs(expected), tolerance.output_spacing / 2);
}

double rms_limit(const Tolerance& tolerance, std::size_t elements) {
  return tolerance.rms_factor + tolerance.rms_spread / std::sqrt(static_cast<double>(elements));
}

std::size_t different(std::span<const double> values) {
  std::vector<double> sorted;
  std::ranges::copy_if(values, std::back_inserter(sorted), [](double value) { return !std::isnan(value); });
  std::ranges::sort(sorted);
  return static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
}

}  // namespace

std::vector<double> error_scales(const Tolerance& tolerance, std::span<const double> noise) {
  std::vector<double> scales(noise.size());
  for (std::size_t begin = 0, end = 0; begin < scales.size(); begin = end) {
    end = group_end(tolerance, scales.size(), begin);
    double mean_square = 0;
    for (std::size_t i = begin; i < end; ++i) {
      mean_square += square(noise[i]) / static_cast<double>(end - begin);
    }
    for (std::size_t i = begin; i < end; ++i) {
      scales[i] = std::sqrt(std::max(square(noise[i]), mean_square));
    }
  }
  return scales;
}

double element_closeness(const Tolerance& tolerance, double expected, double scale, double actual) {
  if (!std::isfinite(expected)) {
    return is_same(expected, actual) ? 0 : kInfinity;
  }
  if (tolerance.signed_zero && expected == 0 && actual == 0 && std::signbit(expected) != std::signbit(actual)) {
    return kInfinity;
  }
  const double error = std::fabs(actual - expected);
  return error < kInfinity ? ratio(error - rounding_at(tolerance, expected), tolerance.element_sigmas * scale)
                           : kInfinity;  // NaN, or an infinity
}

double element_bound(const Tolerance& tolerance, double expected, double scale) {
  return rounding_at(tolerance, expected) + tolerance.element_sigmas * scale;
}

Closeness closeness(const Tolerance& tolerance, std::span<const double> expected, std::span<const double> noise,
                    std::span<const double> actual) {
  Closeness result;
  const std::vector<double> scales = error_scales(tolerance, noise);
  double squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_finite = std::isfinite(expected[i]);
    const double error = is_finite ? std::fabs(actual[i] - expected[i]) : 0;
    const double rounding = rounding_at(tolerance, expected[i]);
    const double element = element_closeness(tolerance, expected[i], scales[i], actual[i]);
    if (element > result.element) {
      result.element = element;
      result.worst_element = static_cast<std::int64_t>(i);
    }
    squares += is_finite ? ratio(square(error), square(scales[i]) + square(rounding) / 3) : 0;
  }
  const double rms = expected.empty() ? 0 : std::sqrt(squares / static_cast<double>(expected.size()));
  result.rms = ratio(rms, rms_limit(tolerance, expected.size()));
  if (result.rms > 1 && tolerance.rms_spread > 0) {
    const std::size_t values = different(expected);
    result.rms = ratio(rms, values == 1 ? tolerance.element_sigmas : rms_limit(tolerance, values));
  }
  if (!(result.element < kInfinity)) {
    result.rms = kInfinity;
  }
  return result;
}

}  // namespace apo
