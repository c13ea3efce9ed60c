// harness/research/catalogue/requirements.h - whether a technique can be applied to the incumbent here.
#pragma once

#include <string>

#include "harness/core/expression/expression.h"
#include "harness/core/techniques/technique.h"
#include "harness/research/inputs.h"

namespace apo {

// The facts of requirement_facts.h that are known here, with the workload's axes.
Symbols facts_here(const ResearchInputs& inputs);

// "" where its `requires` holds, or where that cannot be told because a fact is missing or it is about other families;
// else the reason: "it needs N <= 32, and here N is 128".
std::string why_not_here(const Technique& technique, const ResearchInputs& inputs);

// Why nobody should write it for this incumbent: the same, "it cannot be combined with register-owned, which the
// incumbent has", "it builds on chunk-prefetch, which the incumbent lacks", "it is known of lse_backward alone".
std::string why_not_now(const Technique& technique, const ResearchInputs& inputs);

}  // namespace apo
