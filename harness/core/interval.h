// harness/core/interval.h - ratios for people, with as many decimals as show where in its interval one lies.
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

}  // namespace apo
