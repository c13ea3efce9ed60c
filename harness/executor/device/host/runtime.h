// harness/executor/device/host/runtime.h - the part of CUDA's runtime that host code calls round its kernels: launches,
// memory, errors. Streams are one queue, and every call is complete when it returns.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <type_traits>
#include <utility>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotSupported = 801
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize, cudaFuncAttributePreferredSharedMemoryCarveout };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1 };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrCooperativeLaunch = 95
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

struct cudaDeviceProp {  // of the H200 that launch expressions see
  char name[256] = "CPU executor as sm_90";
  size_t totalGlobalMem = 150000000000, sharedMemPerBlock = 49152, sharedMemPerBlockOptin = 232448;
  size_t sharedMemPerMultiprocessor = 233472;
  int major = 9, minor = 0, multiProcessorCount = 132, warpSize = 32, l2CacheSize = 62914560;
  int maxThreadsPerBlock = 1024, maxThreadsPerMultiProcessor = 2048, maxBlocksPerMultiProcessor = 32;
  int regsPerBlock = 65536, regsPerMultiprocessor = 65536, cooperativeLaunch = 1;
};

namespace apo_cpu {

inline cudaError_t last_error = cudaSuccess;
inline cudaError_t noted(int error) {
  last_error = error == 0 ? last_error : static_cast<cudaError_t>(error);
  return static_cast<cudaError_t>(error);
}

#define APO_CPU_UNSEEN_LAMBDA __attribute__((no_sanitize("thread")))  // APO_CPU_UNSEEN would be of its type there

// `kernel<<<grid, block, shared>>>` becomes such a call of a function that calls the kernel. The result takes the
// kernel's arguments, of which each thread gets copies.
template <class Kernel>
auto launch(const char* name, Kernel kernel, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr,
            bool cooperative = false) {
  return [=](auto... arguments) APO_CPU_UNSEEN_LAMBDA {
    const auto thread = [=]() APO_CPU_UNSEEN_LAMBDA { kernel(arguments...); };
    using Call = decltype(thread);
    const auto run = [](const void* one) APO_CPU_UNSEEN_LAMBDA {
      alignas(Call) char own[sizeof(Call)];  // on the stack of the thread, whose own memory that is
      __builtin_memcpy(own, one, sizeof own);
      (*reinterpret_cast<Call*>(own))();
    };
    const HostLaunch launch{name,   run,        &thread, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                            shared, cooperative};
    return noted(call_launch(&launch));
  };
}

// A launch by a function, which gets the addresses of the kernel's arguments.
template <class... Parameters>
cudaError_t launch_by_name(const char* name, void (*kernel)(Parameters...), bool cooperative, dim3 grid, dim3 block,
                           void** arguments, size_t shared = 0, cudaStream_t stream = nullptr) {
  const auto call = launch(name, kernel, grid, block, shared, stream, cooperative);
  return [&]<size_t... kAt>(std::index_sequence<kAt...>) APO_CPU_UNSEEN_LAMBDA {
    return call(*static_cast<std::remove_cv_t<Parameters>*>(arguments[kAt])...);
  }
  (std::index_sequence_for<Parameters...>());
}

}  // namespace apo_cpu

inline cudaError_t cudaGetLastError() {
  const cudaError_t error = apo_cpu::last_error;
  apo_cpu::last_error = cudaSuccess;
  return error;
}
inline cudaError_t cudaPeekAtLastError() {
  return apo_cpu::last_error;
}
inline const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "a CUDA error";
}
inline const char* cudaGetErrorString(cudaError_t error) {
  return cudaGetErrorName(error);
}

template <class T>
cudaError_t cudaMalloc(T** memory, size_t bytes) {
  return apo_cpu::noted(apo_cpu::call_allocate(reinterpret_cast<void**>(memory), bytes));
}
template <class T>
cudaError_t cudaMallocManaged(T** memory, size_t bytes, unsigned = 1) {
  return cudaMalloc(memory, bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, size_t bytes, cudaStream_t) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFree(void* memory) {
  return apo_cpu::noted(apo_cpu::call_release(memory));
}
inline cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  return cudaFree(memory);
}
APO_CPU_UNSEEN inline cudaError_t cudaMemset(void* to, int byte, size_t bytes) {
  const int error = apo_cpu::call_touch(to, bytes, true);
  if (error == 0) {
    __builtin_memset(to, byte, bytes);
  }
  return apo_cpu::noted(error);
}
inline cudaError_t cudaMemsetAsync(void* to, int byte, size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(to, byte, bytes);
}
APO_CPU_UNSEEN inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  int error = apo_cpu::call_touch(from, bytes, false);
  error = error == 0 ? apo_cpu::call_touch(to, bytes, true) : error;
  if (error == 0) {
    __builtin_memmove(to, from, bytes);
  }
  return apo_cpu::noted(error);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  for (size_t row = 0; row < height; ++row) {
    if (cudaMemcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width,
                   kind) != cudaSuccess) {
      return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes, kind);
}

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount       ? 132
           : attribute == cudaDevAttrMaxSharedMemoryPerBlock ? 49152
           : attribute == cudaDevAttrCooperativeLaunch       ? 1
                                                             : 1024;
  return cudaSuccess;
}
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                   cudaEventWaitDefault = 0;
#define APO_CPU_MAKES(NAME, HANDLE)                  \
  template <class... Settings>                       \
  cudaError_t NAME(HANDLE* handle, Settings...) {    \
    static size_t made = 0;                          \
    *handle = reinterpret_cast<HANDLE>(++made << 4); \
    return cudaSuccess;                              \
  }
APO_CPU_MAKES(cudaStreamCreate, cudaStream_t)
APO_CPU_MAKES(cudaStreamCreateWithFlags, cudaStream_t)
APO_CPU_MAKES(cudaStreamCreateWithPriority, cudaStream_t)
APO_CPU_MAKES(cudaEventCreate, cudaEvent_t)
APO_CPU_MAKES(cudaEventCreateWithFlags, cudaEvent_t)
#undef APO_CPU_MAKES
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
template <class... Arguments>
cudaError_t cudaFuncSetAttribute(Arguments...) {
  return cudaSuccess;
}
template <class... Arguments>
cudaError_t cudaFuncSetCacheConfig(Arguments...) {
  return cudaSuccess;
}
#define APO_CPU_NOTHING_TO_DO(NAME, PARAMETER) \
  inline cudaError_t NAME(PARAMETER) {         \
    return cudaSuccess;                        \
  }
APO_CPU_NOTHING_TO_DO(cudaSetDevice, int)
APO_CPU_NOTHING_TO_DO(cudaDeviceSynchronize, )
APO_CPU_NOTHING_TO_DO(cudaStreamSynchronize, cudaStream_t)
APO_CPU_NOTHING_TO_DO(cudaEventSynchronize, cudaEvent_t)
APO_CPU_NOTHING_TO_DO(cudaEventDestroy, cudaEvent_t)
APO_CPU_NOTHING_TO_DO(cudaEventQuery, cudaEvent_t)
APO_CPU_NOTHING_TO_DO(cudaStreamDestroy, cudaStream_t)
APO_CPU_NOTHING_TO_DO(cudaStreamQuery, cudaStream_t)
#undef APO_CPU_NOTHING_TO_DO
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
// One, so that the threads of a cooperative launch that fills the device can all be kept.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}
