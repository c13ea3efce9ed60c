// harness/worker/child/worker_main.h - the isolated process: reads requests on fd 3 until the parent hangs up.
#pragma once

namespace apo {

// What `apo worker` runs. Returns its exit status.
int worker_main();

}  // namespace apo
