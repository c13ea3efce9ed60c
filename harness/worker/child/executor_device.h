// harness/worker/child/executor_device.h - runs device variants on this CPU under the checks of harness/executor.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/worker/child/device.h"

namespace apo {

// `status` outlives the device and names the running slot for an inspection after a crash. `seed` draws the order in
// which threads run.
std::unique_ptr<Device> make_executor_device(int threads, std::uint64_t seed, SharedStatus& status);

}  // namespace apo
