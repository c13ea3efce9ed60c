// harness/worker/child/worker_main.h - the isolated process: reads requests on fd 3 until the parent hangs up.
#pragma once

namespace apo {

// Runs `apo worker`. Returns its exit status.
int worker_main();

}  // namespace apo
