// harness/loop/hooks.h - connects an evaluation with its observer and the journal.
#pragma once

#include <cstdint>

#include "harness/evaluate/plan.h"
#include "journal/journal.h"

namespace apo {

// Keeps a reference to the journal.
EvaluateHooks journal_hooks(Journal& journal, std::int64_t experiment);

}  // namespace apo
