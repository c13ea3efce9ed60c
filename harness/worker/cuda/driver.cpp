// harness/worker/cuda/driver.cpp - loads libcuda.so.1 and its functions by their exported names.
#include "harness/worker/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace apo::cuda {
namespace {

// Finds functions one after the other and remembers the first that is not there.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) {
      missing_ = name;
    }
  }
  template <class Function>
  void find_optional(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void find_device_functions(Finder& finder, Driver& driver) {
  finder.find(driver.init, "cuInit");
  finder.find(driver.driver_version, "cuDriverGetVersion");
  finder.find(driver.device_count, "cuDeviceGetCount");
  finder.find(driver.device_get, "cuDeviceGet");
  finder.find(driver.device_name, "cuDeviceGetName");
  finder.find(driver.device_uuid, "cuDeviceGetUuid_v2");
  finder.find(driver.device_attribute, "cuDeviceGetAttribute");
  finder.find(driver.device_memory, "cuDeviceTotalMem_v2");
  finder.find(driver.retain_context, "cuDevicePrimaryCtxRetain");
  finder.find(driver.set_context, "cuCtxSetCurrent");
  finder.find(driver.set_limit, "cuCtxSetLimit");
  finder.find(driver.synchronize_context, "cuCtxSynchronize");
  finder.find(driver.reset_persisting_l2, "cuCtxResetPersistingL2Cache");
  finder.find(driver.error_name, "cuGetErrorName");
  finder.find(driver.error_text, "cuGetErrorString");
}

void find_module_functions(Finder& finder, Driver& driver) {
  finder.find(driver.load_module, "cuModuleLoadData");
  finder.find(driver.unload_module, "cuModuleUnload");
  finder.find(driver.get_function, "cuModuleGetFunction");
  finder.find(driver.get_global, "cuModuleGetGlobal_v2");
  finder.find(driver.get_function_attribute, "cuFuncGetAttribute");
  finder.find(driver.set_function_attribute, "cuFuncSetAttribute");
  finder.find_optional(driver.parameter_info, "cuFuncGetParamInfo");
  finder.find(driver.launch, "cuLaunchKernelEx");
}

void find_memory_functions(Finder& finder, Driver& driver) {
  finder.find(driver.allocate, "cuMemAlloc_v2");
  finder.find(driver.free, "cuMemFree_v2");
  finder.find(driver.allocate_host, "cuMemHostAlloc");
  finder.find(driver.host_device_pointer, "cuMemHostGetDevicePointer_v2");
  finder.find(driver.copy_to_device, "cuMemcpyHtoD_v2");
  finder.find(driver.copy_to_host, "cuMemcpyDtoH_v2");
  finder.find(driver.copy_on_device, "cuMemcpyDtoDAsync_v2");
  finder.find(driver.fill, "cuMemsetD8Async");
  finder.find(driver.ipc_handle, "cuIpcGetMemHandle");
  finder.find(driver.ipc_open, "cuIpcOpenMemHandle_v2");
  finder.find(driver.ipc_close, "cuIpcCloseMemHandle");
}

void find_stream_functions(Finder& finder, Driver& driver) {
  finder.find(driver.create_stream, "cuStreamCreate");
  finder.find(driver.synchronize, "cuStreamSynchronize");
  finder.find(driver.wait_value, "cuStreamWaitValue32_v2");
  finder.find(driver.create_event, "cuEventCreate");
  finder.find(driver.record, "cuEventRecord");
  finder.find(driver.elapsed, "cuEventElapsedTime");
}

}  // namespace

std::unique_ptr<const Driver> load_driver(std::string& missing) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    missing = std::string("the CUDA driver does not load: ") + (reason != nullptr ? reason : "libcuda.so.1");
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  Finder finder(library);
  find_device_functions(finder, *driver);
  find_module_functions(finder, *driver);
  find_memory_functions(finder, *driver);
  find_stream_functions(finder, *driver);
  if (!finder.missing().empty()) {
    missing = "the CUDA driver is too old: it has no " + finder.missing() + ", which came with CUDA 12";
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
