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

// Fits polynomials in the axes, of degree one in all of them but one, where it is two, to the counts at shapes that
// `axes` scale down to, of up to 4,096 elements or 16 times the smallest. Holds them against shapes with one long axis
// each. Calls `count` with no shape of more than kSmallElements, unless the contract has none.
Extrapolated extrapolate(const Family& family, const Axes& axes, const std::function<Counts(const Axes&)>& count);

}  // namespace apo
