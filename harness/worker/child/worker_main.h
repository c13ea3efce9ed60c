// harness/worker/child/worker_main.h - the isolated process: reads requests on fd 3 until the parent hangs up.
#pragma once

#include "harness/worker/protocol/protocol.h"

namespace apo {

// Runs `apo worker`. Returns its exit status.
int worker_main();

// From now on a fatal signal leaves its number, its address and the bytes of data in `shared`, which has to outlive the
// process's last thread, and ends the process as it would have. With `name_refused` a refused call leaves its number
// and its path, and gets its error. Does nothing under AddressSanitizer.
void report_fatal_signals(SharedStatus& shared, bool name_refused);

}  // namespace apo
