// harness/injection/cupti_recording.h - receives CUPTI's records of what runs on the GPUs of a profiled process.
#pragma once

#include "harness/injection/session.h"

namespace apo {

// Subscribing comes first: it fails while another profiler watches this process, whose records would be disturbed.
// False, and why in the session, when there is nothing to record with.
bool start_recording(Session& self);

// At the first range, or at CUDA's start where that comes later.
void watch_launches(Session& self);

}  // namespace apo
