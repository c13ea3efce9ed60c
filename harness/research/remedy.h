// harness/research/remedy.h - the bottlenecks that an option attacks, and the most that it can gain.
#pragma once

#include <string>
#include <vector>

#include "harness/research/inputs.h"

namespace apo {

// A configuration under consideration.
struct Option {
  const Variant* variant = nullptr;
  Configuration configuration;  // normalised
  Origin origin = Origin::registered;
};

struct Remedy {
  std::vector<std::string> bottlenecks;  // that are attacked, the largest first
  double bound = 1.0;                    // of all of them together
  bool has_cause = false;                // among them: then it is no bound, but about what comes
};

// With the techniques that the option or an ancestor of it applies and the incumbent does not. The bound is the savings
// of all that they attack, together and as far as the floor allows; the floor's bound where they attack nothing,
// because then nothing else bounds it. A bottleneck's own bound is that of a change which removes it alone.
Remedy remedy_of(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks, const Option& option);

// What the floor leaves an option at most: that of tensor cores where its new techniques use them; infinite where the
// floor is not known.
double floor_bound(const ResearchInputs& inputs, const Option& option);

// Whether one of these techniques moves products to tensor cores.
bool uses_tensor_cores(const std::vector<std::string>& techniques, Target target);

// The part of today's time that a speed-up saves; 0 for a slow-down.
double saving(double speedup);

}  // namespace apo
