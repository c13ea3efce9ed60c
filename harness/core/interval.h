// harness/core/interval.h - prints ratios with as many decimals as their interval supports.
#pragma once

#include <string>

namespace apo {

struct IntervalText {
  std::string ratio;  // "1.4907x", or a change
  std::string lower;
  std::string upper;
  std::string all() const { return ratio + " [" + lower + ", " + upper + "]"; }
};
IntervalText format_interval(double ratio, double lower, double upper);
// A log effect and its interval in one form: "+1.25 % [-0.10 %, +2.60 %]", and as ratios where any of it is more than
// twofold. A bound that is infinite is "-inf" or "+inf".
IntervalText format_change(double effect, double lower, double upper);

// A predicted band: "1.05x to 2.24x"; "unknown" where nothing was predicted.
std::string format_band(double low, double high);

}  // namespace apo
