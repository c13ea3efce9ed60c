// harness/evaluate/judge/claim.h - is the time that a candidate claims to save on a GPU saved where it cannot know that
// it is timed?
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// Returns the objection to the claim of these rounds on a GPU as one sentence, else "". For each workload, calls on
// inputs written right before them must save at least a quarter of what the timed calls save: a candidate that gains
// only on repeated inputs or outputs saves nothing there. A quarter is enough because a single call has costs that
// calls in a row share. The objection needs the bound of the difference at guard_alpha. Rounds of host code have no
// such figures: each of their calls is on new inputs.
std::string claim_failure(const std::vector<Round>& rounds, const JudgePreset& preset);

}  // namespace apo
