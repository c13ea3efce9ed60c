// harness/research/diagnosis/diagnosis.cpp - the floor's bound and Amdahl's.
#include "harness/research/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace apo {

namespace {

double bound_of(double floor_fraction) {
  constexpr double kBeaten = 1.1;  // more than the scatter of roofs and calls
  const bool known = floor_fraction > 0 && floor_fraction <= kBeaten;
  return known ? std::max(1.0, 1 / floor_fraction) : std::numeric_limits<double>::infinity();
}

}  // namespace

double floor_bound(const Profile& profile) {
  return bound_of(profile.floor_fraction);
}

double floor_bound_on_tensor_cores(const Profile& profile) {
  if (profile.floor_roof != "fp32_fma") {
    return floor_bound(profile);
  }
  const auto rate = [&](const char* name) {
    const auto roof = std::ranges::find(profile.roofs, name, &Roof::name);
    return roof == profile.roofs.end() ? std::nan("") : roof->value;
  };
  double floor_ns = profile.floor_ns * rate("fp32_fma") / rate("tensor_bf16");
  for (const char* other : {"floor_special", "floor_bytes", "floor_serial"}) {
    floor_ns = std::fmax(floor_ns, profile.metric(other));  // the larger one; what was not measured is NaN
  }
  return bound_of(floor_ns / profile.time_ns);
}

double amdahl(double share, double speedup) {
  // A share of 1 that vanished would leave no time at all: 1000x then stands for "everything".
  const double most = std::isfinite(speedup) ? 1.0 : 0.999;
  const double part = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, most);
  return 1 / ((1 - part) + part / speedup);
}

}  // namespace apo
