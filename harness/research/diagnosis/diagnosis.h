// harness/research/diagnosis/diagnosis.h - the inputs of a diagnosis, and the two laws that bound its gains.
#pragma once

#include <cstdint>

#include "harness/core/records/records.h"

namespace apo {

// The inputs of the rules. The profile is the incumbent's.
struct Diagnosis {
  Profile profile;
  Work work;  // compulsory work of one call
  Axes axes;
  Variant incumbent;
  std::int64_t units = 1;     // Family::unit_count
  double scratch_bytes = 0;   // sum of the incumbent's apo:scratch for these axes
  std::int64_t l2_bytes = 0;  // of one core
  bool has_doubles = false;   // a tensor of the contract is f64
};

// Returns the largest possible gain of any change, time / floor; infinite if the floor is unknown, or invalid because
// the kernel is faster (a roof that was measured on a slower path).
double floor_bound(const Profile& profile);

// Returns the same for a change that runs products on tensor cores which the floor counts as vector operations.
double floor_bound_on_tensor_cores(const Profile& profile);

// Computes 1 / ((1 - share) + share / speedup); at most 1000 where the speed-up is infinite. A NaN share
// counts as 0.
double amdahl(double share, double speedup);

}  // namespace apo
