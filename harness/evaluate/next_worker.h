// harness/evaluate/next_worker.h - what rounds call the yard that their workers start in and end in.
#pragma once

#include "harness/evaluate/worker_yard.h"

namespace apo {

using NextWorker = WorkerYard;

}  // namespace apo
