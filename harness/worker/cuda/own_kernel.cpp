// harness/worker/cuda/own_kernel.cpp - loads PTX, which the driver compiles for its GPU, and launches it.
#include "harness/worker/cuda/own_kernel.h"

namespace apo {

cuda::Result OwnKernel::load(const cuda::Driver& driver, const char* code, const char* name) {
  cuda::Module module = nullptr;
  const cuda::Result error = driver.load_module(&module, code);
  return error != cuda::kSuccess ? error : driver.get_function(&function_, module, name);
}

cuda::Result OwnKernel::queue(const cuda::Driver& driver, unsigned blocks, void** parameters,
                              cuda::Stream stream) const {
  constexpr unsigned kThreads = 256;
  const cuda::LaunchConfig config{.grid = {blocks, 1, 1},
                                  .block = {kThreads, 1, 1},
                                  .shared_bytes = 0,
                                  .stream = stream,
                                  .attributes = nullptr,
                                  .attribute_count = 0};
  return driver.launch(&config, function_, parameters, nullptr);
}

}  // namespace apo
