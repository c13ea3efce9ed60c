// tests/worker/cuda/losing_driver.cpp - a libcuda.so.1 whose GPU fails when a file says so, for tests of what a lost
// GPU does to a judgement.
//
// Found through LD_LIBRARY_PATH. Beside it lie
//   real    the path of the driver that does the work; without it the GPU is this process's memory, and neither
//           kernels nor copies within it run
//   plan    what happens once AFTER samples have finished: "AFTER vanishes", "AFTER hangs" in every process, or, in
//           this process alone, "AFTER stalls" or "AFTER fails CODE"
//   samples a byte for each sample that has finished, in all processes
//   gone    made when the GPU vanishes or hangs; no process can use the GPU until somebody removes it
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/worker/cuda/driver.h"

namespace {

using namespace apo::cuda;
namespace fs = std::filesystem;

constexpr Result kUnknown = 999;

const fs::path& folder() {
  static const fs::path place = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&folder), &info);
    return fs::path(info.dli_fname).parent_path();
  }();
  return place;
}

void* real_library() {
  static void* library = [] {
    std::string path;
    std::ifstream(folder() / "real") >> path;
    return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

struct Plan {
  std::size_t after = 0;
  std::string what;
  Result code = kUnknown;
};

Plan plan() {
  Plan plan;
  std::ifstream(folder() / "plan") >> plan.after >> plan.what >> plan.code;
  return plan;
}

// Of the process in which the GPU failed, until its end.
Result broken = kSuccess;

[[noreturn]] void hang() {
  while (true) {
    pause();
  }
}

Result state() {
  if (fs::exists(folder() / "gone") && plan().what == "hangs") {
    hang();
  }
  return fs::exists(folder() / "gone") ? (broken != kSuccess ? broken : kNoDevice) : broken;
}

// Counts a finished sample and carries out the plan when it is time.
void count_sample() {
  const fs::path samples = folder() / "samples";
  std::ofstream(samples, std::ios::app) << '.';
  const Plan due = plan();
  if (due.what.empty() || fs::file_size(samples) <= due.after) {
    return;
  }
  if (due.what == "stalls") {
    hang();
  }
  broken = due.what == "fails" ? due.code : kUnknown;
  if (due.what != "fails") {
    std::ofstream(folder() / "gone") << '.';
  }
}

template <class Function, class... Arguments>
Result forward(Function Driver::*, const char* name, Arguments... arguments) {
  return reinterpret_cast<Function>(dlsym(real_library(), name))(arguments...);
}

int attribute_of(int which) {
  switch (which) {
    case kThreadsPerBlock:
      return 1024;
    case kMultiprocessors:
      return 2;
    case kL2CacheSize:
      return 1 << 20;
    case kThreadsPerMultiprocessor:
      return 2048;
    case kMajor:
      return 9;
    case kSharedPerMultiprocessor:
    case kSharedPerBlockOptIn:
      return 227 << 10;
    case kRegistersPerMultiprocessor:
      return 65536;
    case kBlocksPerMultiprocessor:
      return 32;
    default:
      return 0;
  }
}

template <class T>
Result put(T* to, T value) {
  *to = value;
  return kSuccess;
}

Result text(const char** to, Result error) {
  return put(to, error == kUnknown ? "CUDA_ERROR_UNKNOWN" : error == kNoDevice ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR");
}

void* at(Pointer pointer) {
  return reinterpret_cast<void*>(pointer);
}

Result allocated(void** memory, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}

Result allocated_on_device(Pointer* pointer, std::size_t bytes) {
  void* memory = nullptr;
  const Result error = allocated(&memory, bytes);
  *pointer = reinterpret_cast<Pointer>(memory);
  return error;
}

Result copied(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return kSuccess;
}

}  // namespace

// A function of the driver: fails once the GPU is lost, else asks the real driver, or does ALONE.
#define APO_DRIVER_FUNCTION(NAME, MEMBER, PARAMETERS, ALONE, ...)        \
  extern "C" Result NAME PARAMETERS {                                    \
    if (const Result error = state(); error != kSuccess) {               \
      return error;                                                      \
    }                                                                    \
    if (real_library() != nullptr) {                                     \
      return forward(&Driver::MEMBER, #NAME __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                    \
    return ALONE;                                                        \
  }

APO_DRIVER_FUNCTION(cuInit, init, (unsigned flags), kSuccess, flags)
APO_DRIVER_FUNCTION(cuDriverGetVersion, driver_version, (int* version), put(version, 13000), version)
APO_DRIVER_FUNCTION(cuDeviceGetCount, device_count, (int* count), put(count, 1), count)
APO_DRIVER_FUNCTION(cuDeviceGet, device_get, (Device * device, int ordinal), put(device, ordinal), device, ordinal)
APO_DRIVER_FUNCTION(cuDeviceGetName, device_name, (char* name, int length, Device device),
                    (std::snprintf(name, static_cast<std::size_t>(length), "GPU of a test"), kSuccess), name, length,
                    device)
APO_DRIVER_FUNCTION(cuDeviceGetUuid_v2, device_uuid, (Uuid * uuid, Device device), put(uuid, {{1, 2, 3}}), uuid, device)
APO_DRIVER_FUNCTION(cuDeviceGetAttribute, device_attribute, (int* value, int which, Device device),
                    put(value, attribute_of(which)), value, which, device)
APO_DRIVER_FUNCTION(cuDeviceTotalMem_v2, device_memory, (std::size_t * bytes, Device device),
                    put(bytes, std::size_t{1} << 32), bytes, device)
APO_DRIVER_FUNCTION(cuDevicePrimaryCtxRetain, retain_context, (Context * context, Device device),
                    put(context, Context{nullptr}), context, device)
APO_DRIVER_FUNCTION(cuCtxGetDevice, current_device, (Device * device), put(device, 0), device)
APO_DRIVER_FUNCTION(cuCtxSetCurrent, set_context, (Context context), kSuccess, context)
APO_DRIVER_FUNCTION(cuCtxSetLimit, set_limit, (int limit, std::size_t value), kSuccess, limit, value)
APO_DRIVER_FUNCTION(cuCtxSynchronize, synchronize_context, (), kSuccess)
APO_DRIVER_FUNCTION(cuCtxResetPersistingL2Cache, reset_persisting_l2, (), kSuccess)
APO_DRIVER_FUNCTION(cuModuleLoadData, load_module, (Module * module, const void* image), put(module, Module{module}),
                    module, image)
APO_DRIVER_FUNCTION(cuModuleUnload, unload_module, (Module module), kSuccess, module)
APO_DRIVER_FUNCTION(cuModuleGetFunction, get_function, (Function * function, Module module, const char* name),
                    put(function, Function{function}), function, module, name)
APO_DRIVER_FUNCTION(cuModuleGetGlobal_v2, get_global,
                    (Pointer * pointer, std::size_t* bytes, Module module, const char* name), kNotFound, pointer, bytes,
                    module, name)
APO_DRIVER_FUNCTION(cuFuncGetAttribute, get_function_attribute, (int* value, int attribute, Function function),
                    put(value, 0), value, attribute, function)
APO_DRIVER_FUNCTION(cuFuncSetAttribute, set_function_attribute, (Function function, int attribute, int value), kSuccess,
                    function, attribute, value)
APO_DRIVER_FUNCTION(cuMemAlloc_v2, allocate, (Pointer * pointer, std::size_t bytes),
                    allocated_on_device(pointer, bytes), pointer, bytes)
APO_DRIVER_FUNCTION(cuMemFree_v2, free, (Pointer pointer), (std::free(at(pointer)), kSuccess), pointer)
APO_DRIVER_FUNCTION(cuMemHostAlloc, allocate_host, (void** pointer, std::size_t bytes, unsigned flags),
                    allocated(pointer, bytes), pointer, bytes, flags)
APO_DRIVER_FUNCTION(cuMemHostGetDevicePointer_v2, host_device_pointer, (Pointer * pointer, void* host, unsigned flags),
                    put(pointer, reinterpret_cast<Pointer>(host)), pointer, host, flags)
APO_DRIVER_FUNCTION(cuMemcpyHtoD_v2, copy_to_device, (Pointer to, const void* from, std::size_t bytes),
                    copied(at(to), from, bytes), to, from, bytes)
APO_DRIVER_FUNCTION(cuMemcpyDtoH_v2, copy_to_host, (void* to, Pointer from, std::size_t bytes),
                    copied(to, at(from), bytes), to, from, bytes)
APO_DRIVER_FUNCTION(cuMemcpyDtoDAsync_v2, copy_on_device, (Pointer to, Pointer from, std::size_t bytes, Stream stream),
                    kSuccess, to, from, bytes, stream)
APO_DRIVER_FUNCTION(cuMemsetD8Async, fill, (Pointer to, unsigned char value, std::size_t bytes, Stream stream),
                    (std::memset(at(to), value, bytes), kSuccess), to, value, bytes, stream)
APO_DRIVER_FUNCTION(cuIpcGetMemHandle, ipc_handle, (IpcHandle * handle, Pointer pointer), kNotSupported, handle,
                    pointer)
APO_DRIVER_FUNCTION(cuIpcOpenMemHandle_v2, ipc_open, (Pointer * pointer, IpcHandle handle, unsigned flags),
                    kNotSupported, pointer, handle, flags)
APO_DRIVER_FUNCTION(cuIpcCloseMemHandle, ipc_close, (Pointer pointer), kNotSupported, pointer)
APO_DRIVER_FUNCTION(cuStreamCreate, create_stream, (Stream * stream, unsigned flags), put(stream, Stream{nullptr}),
                    stream, flags)
APO_DRIVER_FUNCTION(cuStreamWaitValue32_v2, wait_value,
                    (Stream stream, Pointer gate, std::uint32_t value, unsigned flags), kSuccess, stream, gate, value,
                    flags)
APO_DRIVER_FUNCTION(cuEventCreate, create_event, (Event * event, unsigned flags), put(event, Event{nullptr}), event,
                    flags)
APO_DRIVER_FUNCTION(cuEventRecord, record, (Event event, Stream stream), kSuccess, event, stream)
APO_DRIVER_FUNCTION(cuEventElapsedTime, elapsed, (float* milliseconds, Event begin, Event end),
                    put(milliseconds, 0.01F), milliseconds, begin, end)
APO_DRIVER_FUNCTION(cuLaunchKernelEx, launch,
                    (const LaunchConfig* config, Function function, void** parameters, void** extra), kSuccess, config,
                    function, parameters, extra)

extern "C" Result cuStreamSynchronize(Stream stream) {
  count_sample();
  if (const Result error = state(); error != kSuccess) {
    return error;
  }
  return real_library() != nullptr ? forward(&Driver::synchronize, "cuStreamSynchronize", stream) : kSuccess;
}

// NVRTC asks for it.
extern "C" Result cuGetExportTable(const void** table, const void* id) {
  using Function = Result (*)(const void**, const void*);
  return real_library() != nullptr ? reinterpret_cast<Function>(dlsym(real_library(), "cuGetExportTable"))(table, id)
                                   : kNotFound;
}

extern "C" Result cuGetErrorName(Result error, const char** name) {
  return real_library() != nullptr ? forward(&Driver::error_name, "cuGetErrorName", error, name) : text(name, error);
}

extern "C" Result cuGetErrorString(Result error, const char** name) {
  return real_library() != nullptr ? forward(&Driver::error_text, "cuGetErrorString", error, name) : text(name, error);
}
