// harness/loop/hooks.h - an evaluation tells its observer how far it is, and the journal each fact as it comes.
#pragma once

#include <cstdint>

#include "harness/core/observer.h"
#include "harness/evaluate/hooks.h"
#include "journal/journal.h"

namespace apo {

// Keeps references to both. Without a journal nothing is written.
EvaluateHooks hooks_for(Observer& observer, Journal* journal = nullptr, std::int64_t experiment = 0);

}  // namespace apo
