// harness/worker/cuda/driver.cpp - loads libcuda.so.1 and names its errors.
#include "harness/worker/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace apo::cuda {

std::unique_ptr<const Driver> load_driver(std::string& missing) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    missing = std::string("the CUDA driver does not load: ") + (reason != nullptr ? reason : "libcuda.so.1");
    return nullptr;
  }
  std::unique_ptr<const Driver> driver(new Driver{.in = {library}});
  if (!driver->in.missing.empty()) {
    missing = "the CUDA driver is too old: it has no " + driver->in.missing + ", which came with CUDA 12";
    return nullptr;
  }
  if (const Result error = driver->init(0); error != kSuccess) {
    missing = "the CUDA driver does not start: " + describe(*driver, error);
    return nullptr;
  }
  return driver;
}

std::string describe(const Driver& driver, Result error) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.error_name(error, &name) != kSuccess || name == nullptr) {
    return fmt::format("CUDA error {}", error);
  }
  driver.error_text(error, &text);  // leaves null for an error without a text
  return std::string(name) + (text != nullptr ? ": " + std::string(text) : "");
}

}  // namespace apo::cuda
