// harness/research/diagnosis/diagnosis.cpp - the floor's bound and Amdahl's.
#include "harness/research/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace apo {

double floor_bound(const Profile& profile) {
  constexpr double kBeaten = 1.1;  // more than the scatter of roofs and calls
  const bool known = profile.floor_fraction > 0 && profile.floor_fraction <= kBeaten;
  return known ? std::max(1.0, 1 / profile.floor_fraction) : std::numeric_limits<double>::infinity();
}

double amdahl(double share, double speedup) {
  // A share of 1 that vanished would leave no time at all: 1000x then stands for "everything".
  const double most = std::isfinite(speedup) ? 1.0 : 0.999;
  const double part = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, most);
  return 1 / ((1 - part) + part / speedup);
}

}  // namespace apo
