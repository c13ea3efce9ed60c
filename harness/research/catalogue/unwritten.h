// harness/research/catalogue/unwritten.h - lists techniques of the catalogue that no variant applies.
#pragma once

#include <vector>

#include "harness/research/inputs.h"

namespace apo {

// Lists the techniques against these bottlenecks that no variant applies. Techniques that cannot be applied here, or
// not to this incumbent, come last.
std::vector<Idea> unwritten_ideas(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks);

}  // namespace apo
