// harness/worker/cuda/module.h - a loaded cubin, the launches of its kernels, and their errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/core/records/device_facts.h"
#include "harness/worker/child/host_library.h"
#include "harness/worker/code/kernel_code.h"
#include "harness/worker/cuda/addresses.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/protocol/result.h"

namespace apo {

// A module that the driver has loaded from an image.
struct LoadedImage {
  cuda::Module module = nullptr;
  std::string_view image;
};

// Keeps a copy of modules' variables, __constant__ ones included, as they are right after the modules were loaded.
class CudaVariables {
 public:
  // Copies the variables of modules that have not run, and `memory` beside them. Returns false when the driver does not
  // find one of them, or when the variables are large: then only loading the modules anew restores them.
  bool keep(const cuda::Driver& driver, const std::vector<LoadedImage>& modules,
            const std::vector<CudaRange>& memory = {});
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
  bool find(const cuda::Driver& driver, const LoadedImage& loaded, std::size_t& total);
  bool worked(const cuda::Driver& driver, cuda::Result result, const std::string& what);

  std::vector<Range> ranges_;
  std::string why_not_;
  cuda::Pointer kept_ = 0;
};

// One operation of a call: a launch of the plan, or what was recorded.
struct CudaOperation {
  KernelLaunch launch;
  cuda::Function function = nullptr;
  // Recorded: the parameters, but for the addresses of the call's tensors, which are at the places. Of a fill or copy
  // the only parameters are where it goes to and, of a copy, comes from.
  std::optional<RecordedOperation> recorded;
  std::string parameters;
  std::vector<RecordedPlace> places;
  const void* host = nullptr;  // pinned memory with what is copied from the host
};

struct CudaModule {
  bool loaded() const { return !operations.empty(); }

  cuda::Module module = nullptr;
  std::string image;      // the cubin; a recorded call has them in `recorded_images`
  std::string recording;  // the encoded RecordedCall
  LaunchPlan plan;
  std::vector<CudaOperation> operations;   // of one call, in their order
  std::vector<cuda::Module> more_modules;  // of a recorded call, which may have several
  std::vector<std::string> recorded_images;
  std::vector<CudaRange> memory;  // that a recorded call has of its own
  std::vector<void*> pinned;      // memory of the host
  Launcher launcher = nullptr;    // of a library variant that is to be recorded
  CudaVariables variables;        // as they were loaded
  bool restorable = false;        // they are known: else only loading the module anew restores them
  bool is_checked = false;        // it takes the arguments of the tensors that are there
};

// Returns the kernels that a call launches, in their order.
std::vector<LaunchedKernel> launched_kernels(const CudaModule& loaded);

// Returns nullopt for success, else the candidate's outcome with the error's name.
std::optional<Failure> cuda_failure(const cuda::Driver& driver, cuda::Result error, const std::string& what,
                                    int slot = -1);

// Loads `image` and finds the kernels of `plan`.
std::optional<Failure> load_module(const cuda::Driver& driver, CudaModule& loaded, int slot);
// Loads the modules of a recorded call, with their variables and its memory as they were when it began.
std::optional<Failure> load_recorded(const cuda::Driver& driver, CudaModule& loaded, int slot);
// Finds the kernels of `plan` in the module that is loaded.
std::optional<Failure> load_kernels(const cuda::Driver& driver, CudaModule& loaded, int slot);
// Copies the variables of a module that has not run, if it has any and the driver finds all of them.
void keep_variables(const cuda::Driver& driver, CudaModule& loaded);
void unload_module(const cuda::Driver& driver, CudaModule& loaded);
// Restores the module's variables: in the order of the stream where a copy was kept, else by loading the module anew.
std::optional<Failure> restore_module(const cuda::Driver& driver, CudaModule& loaded, int slot, cuda::Stream stream);
// Checks that every kernel takes one struct of `expected` bytes and nothing else, and that what was recorded stays
// within the tensors of a call, whose sizes are given.
std::optional<Failure> check_parameters(const cuda::Driver& driver, const CudaModule& loaded, std::size_t expected,
                                        const std::vector<std::int64_t>& tensor_bytes, int slot);
// Launches with `words` as the argument struct; `persisting_bytes` of the buffer that the launch names may persist in
// the L2.
cuda::Result launch_kernel(const cuda::Driver& driver, const CudaOperation& kernel, std::vector<std::uint64_t>& words,
                           std::int64_t persisting_bytes, cuda::Stream stream);
// Launches, fills or copies what was recorded, from pinned memory where that was from the host, on the tensors that
// `words` begin with.
cuda::Result replay(const cuda::Driver& driver, const CudaOperation& operation, const std::vector<std::uint64_t>& words,
                    cuda::Stream stream);

}  // namespace apo
