// harness/worker/child/host_device.h - runs library variants on this CPU: dlopen, call, time stamps.
#pragma once

#include <memory>

#include "harness/worker/child/device.h"

namespace apo {

// `status` outlives the device and names the running slot for an inspection after a crash.
std::unique_ptr<Device> make_host_device(int threads, SharedStatus& status);

}  // namespace apo
