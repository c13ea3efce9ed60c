// harness/loop/workspace/nearest_workload.cpp - computes the distance, and writes the border between two sizes without
// logarithms.
#include "harness/loop/workspace/nearest_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/core/text.h"

namespace apo {
namespace {

// Added to an axis that may be 0, which has no logarithm.
std::int64_t shift_of(const AxisSpec& axis) {
  return std::max<std::int64_t>(0, 1 - axis.min);
}

// "min(max(T,128),16384)".
std::string clamped(const AxisSpec& axis, std::int64_t low, std::int64_t high) {
  const std::int64_t shift = shift_of(axis);
  const std::string value = shift == 0 ? axis.name : fmt::format("{}+{}", axis.name, shift);
  return fmt::format("min(max({},{}),{})", value, low, high);
}

std::string product(std::int64_t factor, const std::vector<std::string>& factors) {
  std::vector<std::string> all = factors;
  if (factor != 1 || factors.empty()) {
    all.push_back(std::to_string(factor));
  }
  return join(all, "*");
}

// "less * b <= more * a", where a / b is `ratio` or, below 1, b / a its inverse, in thousandths.
std::string bounded(const std::vector<std::string>& less, double ratio, const std::vector<std::string>& more) {
  constexpr std::int64_t kParts = 1000;
  const bool above = ratio >= 1;
  const auto parts = std::int64_t{std::llround((above ? ratio : 1 / ratio) * kParts)};
  const std::int64_t common = std::gcd(parts, kParts);
  return above ? product(kParts / common, less) + " <= " + product(parts / common, more)
               : product(parts / common, less) + " <= " + product(kParts / common, more);
}

}  // namespace

double distance(const Family& family, const Axes& a, const Axes& b) {
  double sum = 0;
  for (const AxisSpec& axis : family.axes) {
    const auto place = [&](const Axes& axes) {
      return std::log(static_cast<double>(axes.at(axis.name) + shift_of(axis)));
    };
    sum += std::abs(place(a) - place(b));
  }
  return sum;
}

// Between the two values of an axis, c, the distances differ by 2 ln c - ln(low * high), and outside of them by a
// constant. So the sizes nearer to `one` are those with
//   product of c where one < other  <=  product of c where one > other  *  ratio.
std::string nearer_condition(const Family& family, const Axes& one, const Axes& other) {
  std::vector<std::string> less;
  std::vector<std::string> more;
  double log_ratio = 0;
  for (const AxisSpec& axis : family.axes) {
    const std::int64_t from = one.at(axis.name) + shift_of(axis);
    const std::int64_t to = other.at(axis.name) + shift_of(axis);
    if (from != to) {
      (from < to ? less : more).push_back(clamped(axis, std::min(from, to), std::max(from, to)));
      const double middle = (std::log(static_cast<double>(from)) + std::log(static_cast<double>(to))) / 2;
      log_ratio += from < to ? middle : -middle;
    }
  }
  return bounded(less, std::exp(log_ratio), more);
}

}  // namespace apo
