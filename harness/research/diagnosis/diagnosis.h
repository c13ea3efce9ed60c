// harness/research/diagnosis/diagnosis.h - what a diagnosis is given, and the two laws that bound what it promises.
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

// Returns the largest possible gain of any change, time / floor; infinite when the floor is unknown, and where the
// kernel is faster than it: then it is none, such as where a roof was measured on a slower path.
double floor_bound(const Profile& profile);

// The same of a change that runs the products on tensor cores, where the floor counts them in vectors.
double floor_bound_on_tensor_cores(const Profile& profile);

// Computes 1 / ((1 - share) + share / speedup); at most 1000 where the speed-up is infinite. A share that is no number
// counts as 0.
double amdahl(double share, double speedup);

}  // namespace apo
