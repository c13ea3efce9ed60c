// harness/evaluate/judge/claim.h - is the time that a candidate claims to save on a GPU saved where it cannot know that
// it is timed?
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// What speaks against the claim of these rounds on a GPU, as a sentence; "" when nothing does. Calls on inputs that
// were made right before them have to save a quarter of what the timed calls save, workload by workload: a candidate
// that gains only where inputs or outputs come again saves nothing there. Not all of it is asked for, because a single
// call has costs that calls in a row share. It speaks up only where the bound at guard_alpha of the difference says so.
// Every call of host code is on new inputs, so that its rounds have no such figures.
std::string claim_failure(const std::vector<Round>& rounds, const JudgePreset& preset);

}  // namespace apo
