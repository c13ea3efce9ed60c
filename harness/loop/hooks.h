// harness/loop/hooks.h - connects an evaluation with its observer and the journal.
#pragma once

#include <cstdint>

#include "harness/core/observer.h"
#include "harness/evaluate/hooks.h"
#include "journal/journal.h"

namespace apo {

// Keeps references to both. Without a journal nothing is written.
EvaluateHooks hooks_for(Observer& observer, Journal* journal = nullptr, std::int64_t experiment = 0);

}  // namespace apo
