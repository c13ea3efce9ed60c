// harness/families/extrapolate.h - counts at a large shape, from those at small ones.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "kernels/family.h"

namespace apo {

// By what is counted.
using Counts = std::map<std::string, double>;

struct Extrapolated {
  Counts counts;
  bool is_estimate = false;  // no polynomial: in proportion to the elements
};

// Fits polynomials in the axes, of degree one in all of them but one, where it is two, to the counts at shapes of up to
// 4,096 elements that `axes` scale down to, and holds them against shapes with one long axis each, of up to 16,384.
// Calls `count` with no larger shape, unless the contract has no smaller one.
Extrapolated extrapolate(const Family& family, const Axes& axes, const std::function<Counts(const Axes&)>& count);

}  // namespace apo
