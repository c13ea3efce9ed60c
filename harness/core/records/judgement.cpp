// harness/core/records/judgement.cpp - effects as ratios.
#include "harness/core/records/judgement.h"

#include <cmath>

namespace apo {

double Judgement::speedup() const {
  return std::exp(effect);
}
double Judgement::speedup_lower() const {
  return std::exp(lower);
}
double Judgement::speedup_upper() const {
  return std::exp(upper);
}

}  // namespace apo
