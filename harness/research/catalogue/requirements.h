// harness/research/catalogue/requirements.h - techniques that can be applied here, and unwritten ones.
#pragma once

#include <string>
#include <vector>

#include "harness/core/expression/expression.h"
#include "harness/core/techniques/technique.h"
#include "harness/research/inputs.h"

namespace apo {

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
