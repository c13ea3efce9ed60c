// harness/runtime/recorded_build.h - a library variant, or a Python file, as what it puts on the GPU, without its host
// code.
#pragma once

#include "harness/runtime/runtime.h"

namespace apo {

// Target cuda: from here on the runtime's builds of library variants and Python files are recorded calls, whose kernels
// a worker launches by itself. Such a library is called in a process of its own, on drawn inputs of the asked sizes,
// and its call is kept beside it, by sizes and the model `device` of the GPU. What cannot be recorded has the outcome
// `refused` and the reason, what fails its call that failure.
void record_libraries(Runtime& runtime, const std::string& device);

}  // namespace apo
