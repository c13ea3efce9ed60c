// harness/loop/hooks.h - the journal keeps each fact of an evaluation as soon as it is there.
#pragma once

#include <cstdint>

#include "harness/evaluate/hooks.h"
#include "journal/journal.h"

namespace apo {

// Keeps a reference to the journal.
EvaluateHooks journal_hooks(Journal& journal, std::int64_t experiment);

}  // namespace apo
