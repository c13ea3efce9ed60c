// harness/worker/cuda/variables.h - saves and restores a module's variables, so that no launch can leave state behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/worker/cuda/driver.h"

namespace apo {

struct CudaVariable {
  std::string name;
  unsigned section = 0;      // of the cubin
  std::uint64_t offset = 0;  // in it
};

// Lists the variables of a cubin, including those that only its compiler knows. Throws EnvironmentError when it is no
// cubin.
std::vector<CudaVariable> variables_in(std::string_view image);

// Keeps a copy of a module's variables, __constant__ ones included, as they are right after the module was loaded.
class CudaVariables {
 public:
  // Copies the variables of `module`, which was loaded from `image` and has not run. Returns false when the driver does
  // not find one of them, or when they are large: then only loading the module anew restores them.
  bool keep(const cuda::Driver& driver, cuda::Module module, std::string_view image);
  // The reason why keep() returned false.
  const std::string& why_not() const { return why_not_; }
  // Restores all of them in the order of the stream.
  cuda::Result restore(const cuda::Driver& driver, cuda::Stream stream) const;
  // Frees the copy of a module that is unloaded.
  void forget(const cuda::Driver& driver);

 private:
  struct Range {
    cuda::Pointer at = 0;
    std::size_t bytes = 0;
    std::size_t kept_at = 0;  // in the copy
    unsigned section = 0;
    std::uint64_t offset = 0;  // in the section
  };
  bool find(const cuda::Driver& driver, cuda::Module module, std::string_view image);
  bool worked(const cuda::Driver& driver, cuda::Result result, const std::string& what);

  std::vector<Range> ranges_;
  std::string why_not_;
  cuda::Pointer kept_ = 0;
};

}  // namespace apo
