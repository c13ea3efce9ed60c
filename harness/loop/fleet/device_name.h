// harness/loop/fleet/device_name.h - what one worker holds and no other may.
#pragma once

#include <string>

#include "harness/core/records/machine.h"

namespace apo {

// A GPU's UUID; "HOST cpus 0,1" for the CPUs that this process may use.
std::string device_name(const Machine& machine);

}  // namespace apo
