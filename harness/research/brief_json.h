// harness/research/brief_json.h - the research brief as the JSON document that a proposer reads.
#pragma once

#include <string>

#include "harness/research/research.h"

namespace apo {

// {"format": 1, "incumbent", "workload", "bottlenecks", "ranked", "left_out", "ideas"}; one document
// with two-space indentation. Names are those of the structs' fields.
std::string brief_to_json(const ResearchBrief& brief, const ResearchInputs& inputs);

}  // namespace apo
