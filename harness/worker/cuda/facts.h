// harness/worker/cuda/facts.h - asks the driver for the facts of a GPU.
#pragma once

#include "harness/core/records/device_facts.h"
#include "harness/worker/cuda/driver.h"

namespace apo {

DeviceFacts read_device_facts(const cuda::Driver& driver, cuda::Device device, int index);

}  // namespace apo
