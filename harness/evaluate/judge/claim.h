// harness/evaluate/judge/claim.h - is the time that a candidate claims to save on a GPU saved where it cannot know that
// it is timed, and against an incumbent that it cannot hinder?
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// What speaks against the claim of these rounds, as a sentence; "" when nothing does. Each compares, workload by
// workload and round by round, something else that the round measured with the saving of its timed calls, and speaks up
// only where the bound at guard_alpha of that difference says so. Rounds of a recording without the figure say nothing.
// Host code needs none of this: each of its calls is on new inputs, in a process without clock or rival.
// - Fresh inputs: calls on inputs that were made right before them have to save a quarter of it. A candidate that gains
//   only where inputs or outputs come again saves nothing there. Not all of it is asked for, because a single call has
//   costs that calls in a row share.
// - Alone, for a library on a GPU: the incumbent in a process without the candidate takes as long as beside it, and the
//   saving of calls on fresh inputs is there against it too. No half of the claim may be what the incumbent loses to
//   its neighbour. This speaks only beyond 2 us: that much two processes differ in by themselves.
std::string claim_failure(const std::vector<Round>& rounds, const JudgePreset& preset);

}  // namespace apo
