// harness/applications/judge_application.h - judges two dispatches by an application, in pairs of fresh runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/observer.h"
#include "harness/core/system/device_turns.h"

namespace apo {

// Runs A once more with these environment variables; no verdict uses the run.
using RunOfA = std::function<ApplicationRun(const std::vector<std::string>& variables)>;

struct ApplicationHooks {
  std::function<void()> on_begin = {};                     // A is prepared
  std::function<void(const ApplicationRun&)> on_run = {};  // as it ended; of the first pair, as both did
  std::function<void(const RunOfA&)> on_pairs = {};        // after all pairs, if they ended well
};

// Prepares both, and runs the declared number of pairs of each view: fresh processes with the same seed, in an order
// that `seed` draws. They do the declared number of steps, or more where these are too short to be timed. Ends with the
// first pair in which a run fails. Fills runs and verdict. Throws UserError, before on_begin, where a dispatch is not
// there or A cannot be prepared.
void judge_application(ProgramComparison& comparison, std::uint64_t seed, std::shared_ptr<DeviceTurns> turns,
                       Observer& observer, const ApplicationHooks& hooks = {});

}  // namespace apo
