// harness/core/interval.cpp - see interval.h.
#include "harness/core/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "harness/core/text.h"

namespace apo {

IntervalText format_interval(double ratio, double lower, double upper) {
  const double half_width = 0.5 * (upper - lower);
  if (!std::isfinite(ratio) || !std::isfinite(half_width) || half_width <= 0) {
    return {format_ratio(ratio), format_ratio(lower), format_ratio(upper)};
  }
  // 0.6 so that +-0.01 gets three of them; two at least, as everywhere.
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(0.6 * half_width))), 2, 4);
  const auto text = [&](double value) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*fx", decimals, value);
    return std::string(buffer.data());
  };
  return {text(ratio), text(lower), text(upper)};
}

}  // namespace apo
