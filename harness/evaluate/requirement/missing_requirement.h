// harness/evaluate/requirement/missing_requirement.h - says which apo:requires line a candidate lacks that is wrong on
// some sizes and right on others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/evaluate/correctness/check_case.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Tries the candidate, which was wrong on the case `failed` in `regime`, on other sizes. Returns the end of a sentence
// with the line to write; "" where the candidate is wrong on a production workload, in one regime alone, or where no
// condition is found. Throws Cancelled after a stop of the runtime's workers.
std::string missing_requirement(const Runtime& runtime, const Configuration& configuration,
                                const std::vector<CheckCase>& plan, const CheckCase& failed, const std::string& regime,
                                std::uint64_t seed);

}  // namespace apo
