// harness/worker/child/worker_main.h - the isolated process: reads requests on fd 3 until the parent hangs up.
#pragma once

#include "harness/worker/protocol/protocol.h"

namespace apo {

// Runs `apo worker`. Returns its exit status.
int worker_main();

// From now on a fatal signal leaves its number, its address and the address space in use in `shared`, which has to
// outlive the process's last thread, and ends the process as it would have. Does nothing under AddressSanitizer.
void report_fatal_signals(SharedStatus& shared);

}  // namespace apo
