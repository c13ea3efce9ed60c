// harness/core/interval.h - prints ratios with as many decimals as their interval supports.
#pragma once

#include <string>

namespace apo {

struct IntervalText {
  std::string ratio;  // "1.4907x", or a change
  std::string lower;
  std::string upper;
  bool is_bounded = true;  // on one side at least: by a handful of rounds nothing is
  std::string all() const {
    return is_bounded ? ratio + " [" + lower + ", " + upper + "]" : ratio + ", too few rounds for an interval";
  }
};
IntervalText format_interval(double ratio, double lower, double upper);
// Of log effects, as ratios: "1.4907x [1.4801x, 1.5014x]".
std::string format_effect(double effect, double lower, double upper);
// Prints a log effect and its interval in one form: "+1.25 % [-0.10 %, +2.60 %]", or ratios when any of the three is
// more than twofold. An infinite bound is "-inf" or "+inf".
IntervalText format_change(double effect, double lower, double upper);

// Prints a predicted band: "1.05x to 2.24x", or "unknown" where nothing was predicted.
std::string format_band(double low, double high);

}  // namespace apo
