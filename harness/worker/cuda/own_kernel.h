// harness/worker/cuda/own_kernel.h - a kernel of this program's own, beside those of a candidate.
#pragma once

#include <cstdint>

#include "harness/worker/cuda/driver.h"

namespace apo {

// One entry of a PTX text, launched in blocks of 256 threads without shared memory.
class OwnKernel {
 public:
  bool is_loaded() const { return function_ != nullptr; }
  // Loads it into the current context, for the rest of the process.
  cuda::Result load(const cuda::Driver& driver, const char* code, const char* name);
  // `parameters` has the address of each.
  cuda::Result queue(const cuda::Driver& driver, unsigned blocks, void** parameters, cuda::Stream stream) const;

 private:
  cuda::Function function_ = nullptr;
};

}  // namespace apo
