// harness/research/remedy.h - techniques: what an option attacks, how much it can gain, and whether it can be applied
// here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/expression/expression.h"
#include "harness/core/techniques/technique.h"
#include "harness/research/inputs.h"

namespace apo {

// A configuration under consideration.
struct Option {
  const Variant* variant = nullptr;
  Configuration configuration;  // normalised
  Origin origin = Origin::registered;
};

struct Remedy {
  std::vector<std::string> bottlenecks;  // that the option attacks, the largest first
  double bound = 1.0;                    // speed-up without all of them
  bool has_cause = false;                // one of them is a cause: `bound` is an estimate, not a maximum
};

// Counts the techniques that the option or an ancestor of it applies and the incumbent does not. The bound is the
// savings of all bottlenecks that they attack, together and as far as the floor allows; the floor's bound where they
// attack none. A bottleneck's own bound is that of a change which removes it alone.
Remedy remedy_of(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks, const Option& option);

// Returns the most that the floor leaves an option: the floor on tensor cores where its new techniques use them;
// infinite where the floor is not known.
double floor_bound(const ResearchInputs& inputs, const Option& option);

// Returns whether one of these techniques moves products to tensor cores.
bool uses_tensor_cores(const std::vector<std::string>& techniques, Target target);

// Returns the part of today's time that a speed-up saves; 0 for a slow-down.
double saving(double speedup);

// Returns the facts of requirement_facts() that are known here, with the workload's axes.
Symbols facts_here(const ResearchInputs& inputs);

// Returns why its `requires` does not hold, "it needs N <= 32, and here N is 128"; "" if it holds, a fact is missing,
// or it is about other families.
std::string why_not_here(const Technique& technique, const ResearchInputs& inputs);

// Returns why nobody should write it for this incumbent: the same, or "it cannot be combined with register-owned, which
// the incumbent has", "it builds on chunk-prefetch, which the incumbent lacks", "it is known of lse_backward alone".
std::string why_not_now(const Technique& technique, const ResearchInputs& inputs);

// Lists the techniques against these bottlenecks that no variant applies. Techniques that cannot be applied here, or
// not to this incumbent, come last.
std::vector<Idea> unwritten_ideas(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks);

}  // namespace apo
