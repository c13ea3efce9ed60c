// harness/worker/cuda_variables.h - what kernels could keep from one launch to the next: the variables of a module.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/worker/cuda_driver.h"

namespace apo {

// The names of the variables of a cubin, those that only its compiler knows included. Throws EnvironmentError where it
// is none.
std::vector<std::string> variables_in(std::string_view image);

// A copy of a module's variables, __constant__ ones included, as they are right after the module was loaded.
class CudaVariables {
 public:
  // Of `module`, which was loaded from `image` and has not run. False where the driver does not find one of them, or
  // where they are large: then only loading the module anew restores them.
  bool keep(const cuda::Driver& driver, cuda::Module module, std::string_view image, cuda::Stream stream);
  // Puts all of them back, in the order of the stream.
  cuda::Result restore(const cuda::Driver& driver, cuda::Stream stream) const;
  // The copy is gone; for a module that is unloaded.
  void forget(const cuda::Driver& driver);

 private:
  struct Range {
    cuda::Pointer at = 0;
    std::size_t bytes = 0;
    std::size_t kept_at = 0;  // in the copy
  };
  bool find(const cuda::Driver& driver, cuda::Module module, std::string_view image);

  std::vector<Range> ranges_;
  cuda::Pointer kept_ = 0;
};

}  // namespace apo
