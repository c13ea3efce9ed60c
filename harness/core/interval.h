// harness/core/interval.h - prints ratios with as many decimals as their interval supports.
#pragma once

#include <string>

namespace apo {

struct IntervalText {
  std::string ratio;  // "1.4907x"
  std::string lower;
  std::string upper;
  std::string all() const { return ratio + " [" + lower + ", " + upper + "]"; }
};
IntervalText format_interval(double ratio, double lower, double upper);

// The change of a log effect: "+1.25 %", and as a ratio where it is more than twofold.
std::string format_effect(double log_effect);

}  // namespace apo
