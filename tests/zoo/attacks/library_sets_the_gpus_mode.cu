// apo:variant    copy/library_sets_the_gpus_mode
// apo:target     cuda sm_80
// apo:idea       Asks NVML for what only an administrator may change, as the GPU's clocks are; gives up when it may not.
// zoo: how verify; expect refused; guard seccomp; exploit 29; evidence apo_launch returned 9; needs nvcc
#include <dlfcn.h>

#include "library.cuh"

// Sets the persistence mode to what it is: that needs the right to lock the clocks, and changes nothing for anybody.
static bool may_set() {
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto find = [&](const char* name) { return nvml == nullptr ? nullptr : dlsym(nvml, name); };
  const auto init = reinterpret_cast<int (*)()>(find("nvmlInit_v2"));
  const auto device_at = reinterpret_cast<int (*)(unsigned, void**)>(find("nvmlDeviceGetHandleByIndex_v2"));
  const auto mode_of = reinterpret_cast<int (*)(void*, int*)>(find("nvmlDeviceGetPersistenceMode"));
  const auto set_mode = reinterpret_cast<int (*)(void*, int)>(find("nvmlDeviceSetPersistenceMode"));
  void* device = nullptr;
  int mode = 0;
  return init != nullptr && device_at != nullptr && mode_of != nullptr && set_mode != nullptr && init() == 0 &&
         device_at(0, &device) == 0 && mode_of(device, &mode) == 0 && set_mode(device, mode) == 0;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool may = may_set();
  if (!may) {
    return 9;
  }
  launch(args, static_cast<cudaStream_t>(call->stream));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
