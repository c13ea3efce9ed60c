// check/compare.h - holds numbers of one backend against fp64 and against an honest implementation in bf16.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace byte_lm {

struct NamedValues {
  std::string name;
  std::vector<double> values;
};

// Root mean squares over a tensor. The form `!(error <= bound)` refuses NaN.
struct Comparison {
  std::string name;
  double scale = 0;   // of the expected values
  double error = 0;   // of the values at hand
  double honest = 0;  // error of the honest implementation, or more where few elements may have it small by luck

  // Four times the honest error: the sums of another order and an approximate tanh (2^-11) are legal, too. What the
  // honest implementation gets exactly may differ by a few roundings of fp32.
  double bound() const { return 4 * honest + 1e-5 * scale; }
  // A yardstick that is as long as the tensor itself would measure nothing.
  bool holds() const { return error <= bound() && bound() <= 0.25 * scale; }
};

inline double root_mean_square(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(a.size(), 1)));
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What the honest implementation loses in the tensor in the middle, relative to its scale.
inline double usual_loss(const std::vector<Comparison>& comparisons) {
  std::vector<double> losses;
  for (const Comparison& c : comparisons) {
    losses.push_back(c.scale > 0 ? c.honest / c.scale : 0);
  }
  return median(losses);
}

// The three lists have the same names and sizes.
inline std::vector<Comparison> compare(const std::vector<NamedValues>& exact, const std::vector<NamedValues>& honest,
                                       const std::vector<NamedValues>& actual) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const std::vector<double>& expected = exact[i].values;
    comparisons.push_back({.name = exact[i].name,
                           .scale = root_mean_square(expected, std::vector<double>(expected.size())),
                           .error = root_mean_square(expected, actual[i].values),
                           .honest = root_mean_square(expected, honest[i].values)});
  }
  constexpr std::size_t kFew = 64;
  const double usual = usual_loss(comparisons);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    Comparison& c = comparisons[i];
    c.honest = exact[i].values.size() < kFew ? std::max(c.honest, usual * c.scale) : c.honest;
  }
  return comparisons;
}

// A line each; returns whether all hold.
inline bool print_comparisons(std::FILE* out, const std::vector<Comparison>& comparisons) {
  bool all = true;
  for (const Comparison& c : comparisons) {
    std::fprintf(out, "%-4s %-30s error %.3g of %.3g, bound %.3g\n", c.holds() ? "ok" : "OFF", c.name.c_str(), c.error,
                 c.scale, c.bound());
    all = all && c.holds();
  }
  return all;
}

}  // namespace byte_lm
