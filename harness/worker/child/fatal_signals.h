// harness/worker/child/fatal_signals.h - reports the signal that ends a worker.
#pragma once

#include "harness/worker/protocol/protocol.h"

namespace apo {

// From now on a fatal signal leaves its number, its address and the address space in use in `shared`, which has to
// outlive the process's last thread, and ends the process as it would have. Does nothing under AddressSanitizer.
void report_fatal_signals(SharedStatus& shared);

}  // namespace apo
