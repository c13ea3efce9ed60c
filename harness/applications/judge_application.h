// harness/applications/judge_application.h - judges two dispatches by an application, in pairs of fresh runs.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/evaluate/commands/judge_commands.h"

namespace apo {

// Prepares both, and runs the declared number of pairs of each view: fresh processes with the same seed, in an order
// that `seed` draws. They do the declared number of steps, or more where these are too short to be timed. Ends with the
// first pair in which a run fails. Fills runs and verdict. Throws UserError, before on_begin, where a dispatch is not
// there or A cannot be prepared.
void judge_application(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                       Observer& observer, const ComparisonHooks& hooks = {});

}  // namespace apo
