// harness/worker/cuda_facts.h - asks the driver what a GPU is.
#pragma once

#include "harness/core/device.h"
#include "harness/worker/cuda_driver.h"

namespace apo {

DeviceFacts read_device_facts(const cuda::Driver& driver, cuda::Device device, int index);

}  // namespace apo
