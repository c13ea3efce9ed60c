// harness/core/interval.cpp - rounds a ratio to the digits that its interval supports.
#include "harness/core/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/core/text.h"

namespace apo {
namespace {

bool is_known(double lower, double upper) {
  return !std::isnan(lower) && !std::isnan(upper);
}

}  // namespace

IntervalText format_interval(double ratio, double lower, double upper) {
  const double half_width = 0.5 * (upper - lower);
  if (!std::isfinite(ratio) || !std::isfinite(half_width) || half_width <= 0) {
    return {.ratio = format_ratio(ratio),
            .lower = format_ratio(lower),
            .upper = std::isfinite(upper) ? format_ratio(upper) : "any",
            .is_bounded = is_known(lower, upper) && (lower > 0 || std::isfinite(upper))};
  }
  // 0.6 so that +-0.01 gets three of them; two at least, as everywhere.
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(0.6 * half_width))), 2, 4);
  const auto text = [&](double value) { return fmt::format("{:.{}f}x", value, decimals); };
  return {text(ratio), text(lower), text(upper)};
}

std::string format_effect(double effect, double lower, double upper) {
  return format_interval(std::exp(effect), std::exp(lower), std::exp(upper)).all();
}

IntervalText format_change(double effect, double lower, double upper) {
  const std::array<double, 3> effects = {effect, lower, upper};
  const bool twofold =
      std::ranges::any_of(effects, [](double one) { return std::isfinite(one) && std::fabs(one) > std::log(2.0); });
  const auto text = [&](double one) -> std::string {
    if (!std::isfinite(one)) {
      return one < 0 ? "-inf" : "+inf";
    }
    return twofold ? format_ratio(std::exp(one)) : format_percent(one);
  };
  return {.ratio = text(effect),
          .lower = text(lower),
          .upper = text(upper),
          .is_bounded = is_known(lower, upper) && (std::isfinite(lower) || std::isfinite(upper))};
}

std::string format_band(double low, double high) {
  return low > 0 && high >= low ? format_ratio(low) + " to " + format_ratio(high) : "unknown";
}

}  // namespace apo
