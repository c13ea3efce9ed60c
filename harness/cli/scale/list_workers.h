// harness/cli/scale/list_workers.h - `apo list --workers`: the workers of campaigns, what each judges, and what was
// lost.
#pragma once

#include <cstdint>

#include "harness/cli/command.h"

namespace apo {

// Of that campaign; 0: of those that are being run with workers, else of the newest one that had some. Returns an
// ExitCode.
int list_workers(std::int64_t campaign, const Globals& globals);

}  // namespace apo
