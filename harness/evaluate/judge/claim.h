// harness/evaluate/judge/claim.h - is the time that a candidate claims to save saved where it cannot know that it is
// timed, by a clock that it cannot reach, and against an incumbent that it cannot hinder?
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// What speaks against the claim of these rounds, as a sentence; "" when nothing does. Each compares, workload by
// workload and round by round, something else that the round measured with the saving of its timed calls, and speaks up
// only where the bound at guard_alpha of that difference says so. Rounds of a recording without the figure say nothing.
// - Fresh inputs: calls on inputs that were made right before them have to save a quarter of it. A candidate that gains
//   only where inputs or outputs come again saves nothing there. Not all of it is asked for, because a single call has
//   costs that calls in a row share.
// - Alone: the incumbent in a process without the candidate takes as long as beside it, and the saving of calls on
// fresh
//   inputs is there against it too. No half of the claim may be what the incumbent loses to its neighbour.
// - The parent's clock: what samples take beyond what the worker says they took, poison, eviction and a message, is the
//   same as in that other process. No half of the claim may be time that went there.
// - The parent's view of the CPU time: new inputs make the process work no more than known ones do. No half of the
// claim
//   may be work that is left out where inputs come again, in whichever thread or handler it is done.
// What is taken once and held against another process speaks only beyond 2 us of time and 100 us of CPU time: that much
// two processes differ in by themselves, whole runs long.
std::string claim_failure(const std::vector<Round>& rounds, const JudgePreset& preset);

}  // namespace apo
