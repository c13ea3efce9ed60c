// apo_op.hpp - asks a dispatch table for a kernel and calls it; what <family>_op.py needs in C++.
//
// Included by <family>_op.cpp after `namespace table`, the family's table, and `kAxes`. Functions return
// nullptr, or an error that stays valid up to the thread's next call.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/abi.h"
#ifdef APO_WITH_CUDA
#include <cuda.h>
#endif

namespace apo_op {

constexpr int kHost = -1;  // any other number is a CUDA device

inline void fail(const std::string& what) {
  throw std::runtime_error(what);
}

#ifdef APO_WITH_CUDA
inline void check(CUresult result, const std::string& what) {
  const char* text = nullptr;
  if (result != CUDA_SUCCESS) {
    cuGetErrorString(result, &text);
    fail(what + " failed: " + (text == nullptr ? "unknown error" : text));
  }
}

inline std::int64_t attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

// The context that PyTorch uses too, current while this lives.
class Context {
 public:
  explicit Context(int ordinal) {
    check(cuDeviceGet(&device_, ordinal), "cuDeviceGet");
    static std::mutex mutex;
    static std::map<int, CUcontext> contexts;
    const std::lock_guard<std::mutex> lock(mutex);
    CUcontext& context = contexts[ordinal];
    if (context == nullptr) {
      check(cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
    }
    check(cuCtxPushCurrent(context), "cuCtxPushCurrent");
  }
  ~Context() {
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);  // fails only where the push did
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  CUdevice device() const { return device_; }

 private:
  CUdevice device_ = 0;
};

inline std::string uuid_of(CUdevice device) {
  CUuuid uuid = {};
  check(cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}
#endif

// ---------------------------------------------------------------- devices

struct KnownDevice {
  std::string id;
  std::string model;
  table::Device device;
};

inline std::string cpu_model() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("model name", 0) == 0) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown CPU";
}

inline void describe(int ordinal, KnownDevice& known) {
  if (ordinal == kHost) {
    known.model = cpu_model();
    known.device.model = known.model;
    return;
  }
#ifdef APO_WITH_CUDA
  const Context context(ordinal);
  const CUdevice device = context.device();
  char name[256] = "";
  check(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  known.id = uuid_of(device);
  known.model = name;
  known.device = {known.id,
                  known.model,
                  10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                      attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                  attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                  attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                  attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)};
#else
  fail("this op was built without CUDA");
#endif
}

inline const table::Device& device_at(int ordinal) {
  static std::mutex mutex;
  static std::map<int, KnownDevice> devices;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, is_new] = devices.try_emplace(ordinal);
  if (is_new) {
    describe(ordinal, entry->second);
  }
  return entry->second.device;
}

// ---------------------------------------------------------------- one prepared call

// What the table chose for some axes on a device; the owner is Python's cache, which lives as long as the process.
struct Prepared {
  int ordinal = kHost;
  const table::Choice* choice = nullptr;
  table::Plan plan;
  std::string constants;  // "kN=32 CHUNK=16"
  decltype(&apo_launch) library = nullptr;
#ifdef APO_WITH_CUDA
  std::vector<CUfunction> functions;  // one a launch
#endif
};

inline Prepared* prepare(const table::Axes& axes, int ordinal) {
  const table::Device& device = device_at(ordinal);
  auto prepared = std::make_unique<Prepared>();
  prepared->ordinal = ordinal;
  prepared->choice = &table::choose(axes, device);
  prepared->plan = prepared->choice->plan(axes, device);
  for (const table::Value& constant : prepared->plan.constants) {
    prepared->constants +=
        (prepared->constants.empty() ? "" : " ") + std::string(constant.name) + "=" + std::to_string(constant.value);
  }
  return prepared.release();  // see struct Prepared
}

inline void load(Prepared& prepared, const char* file) {
  if (prepared.plan.launches.size() == 0) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      fail(dlerror());
    }
    prepared.library = reinterpret_cast<decltype(&apo_launch)>(dlsym(library, "apo_launch"));
    return prepared.library == nullptr ? fail(std::string(file) + " does not export apo_launch") : void();
  }
#ifdef APO_WITH_CUDA
  const Context context(prepared.ordinal);
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, CUmodule> modules;
  const std::lock_guard<std::mutex> lock(mutex);
  CUmodule& module = modules[{file, prepared.ordinal}];
  if (module == nullptr) {
    check(cuModuleLoad(&module, file), "cuModuleLoad");
  }
  for (const table::Launch& launch : prepared.plan.launches) {
    const std::string name(launch.kernel);
    check(cuModuleGetFunction(&prepared.functions.emplace_back(), module, name.c_str()), "the kernel " + name);
  }
#endif
}

// ---------------------------------------------------------------- calls

struct Call {
  std::uint64_t* words;       // the argument struct, 8 bytes a field
  const std::int64_t* bytes;  // of the buffer behind each pointer at its begin
  int threads;
  void* stream;
};

#ifdef APO_WITH_CUDA
// Keeps a buffer in L2. The limit is the device's, and is set by the first launch that asks for it.
inline CUlaunchAttribute persisting_window(std::uint64_t base, std::int64_t bytes, CUdevice device) {
  std::size_t limit = 0;
  check(cuCtxGetLimit(&limit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), "cuCtxGetLimit");
  if (limit == 0) {
    limit = static_cast<std::size_t>(attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE));
    check(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, limit), "cuCtxSetLimit");
  }
  CUlaunchAttribute result = {};
  result.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
  CUaccessPolicyWindow& window = result.value.accessPolicyWindow;
  window.base_ptr = reinterpret_cast<void*>(base);
  window.num_bytes = std::min(static_cast<std::size_t>(bytes), limit);
  window.hitRatio = 1.0F;
  window.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
  window.missProp = CU_ACCESS_PROPERTY_STREAMING;
  return result;
}

inline std::vector<CUlaunchAttribute> attributes_of(const table::Launch& launch, const Call& call, CUdevice device) {
  std::vector<CUlaunchAttribute> attributes;
  if (launch.cooperative) {
    CUlaunchAttribute& cooperative = attributes.emplace_back();
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1) {
    CUlaunchAttribute& cluster = attributes.emplace_back();
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = static_cast<unsigned>(launch.cluster[0]);
    cluster.value.clusterDim.y = static_cast<unsigned>(launch.cluster[1]);
    cluster.value.clusterDim.z = static_cast<unsigned>(launch.cluster[2]);
  }
  if (launch.l2_persist > 0) {
    attributes.push_back(
        persisting_window(call.words[launch.l2_persist - 1], call.bytes[launch.l2_persist - 1], device));
  }
  return attributes;
}

inline void launch_kernel(const table::Launch& launch, CUfunction function, const Call& call, CUdevice device) {
  constexpr std::int64_t kPortableCluster = 8;
  check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           static_cast<int>(launch.shared_bytes)),
        "cuFuncSetAttribute");
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > kPortableCluster) {
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "cuFuncSetAttribute");
  }
  std::vector<CUlaunchAttribute> attributes = attributes_of(launch, call, device);
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>(launch.grid[0]);
  config.gridDimY = static_cast<unsigned>(launch.grid[1]);
  config.gridDimZ = static_cast<unsigned>(launch.grid[2]);
  config.blockDimX = static_cast<unsigned>(launch.block[0]);
  config.blockDimY = static_cast<unsigned>(launch.block[1]);
  config.blockDimZ = static_cast<unsigned>(launch.block[2]);
  config.sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
  config.hStream = static_cast<CUstream>(call.stream);
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  void* parameters[] = {call.words};
  check(cuLaunchKernelEx(&config, function, parameters, nullptr), "the launch of " + std::string(launch.kernel));
}

#endif

inline void call_library(const Prepared& prepared, const Call& call) {
  apo_call arguments = {};
  arguments.abi_version = APO_ABI_VERSION;
  arguments.struct_bytes = sizeof arguments;
  arguments.arguments = call.words;
  arguments.threads = call.threads;
  arguments.stream = call.stream;
  const int answer = prepared.library(&arguments);
  if (answer != 0) {
    fail("the kernel refused the call with " + std::to_string(answer));
  }
}

inline void run(const Prepared& prepared, const Call& call) {
  if (prepared.ordinal == kHost) {
    return call_library(prepared, call);
  }
#ifdef APO_WITH_CUDA
  const Context context(prepared.ordinal);
  for (std::size_t i = 0; i < prepared.functions.size(); ++i) {
    launch_kernel(prepared.plan.launches[i], prepared.functions[i], call, context.device());
  }
  if (prepared.library != nullptr) {
    call_library(prepared, call);
  }
#endif
}

template <class Body>
const char* guarded(Body body) {
  thread_local std::string error;
  try {
    body();
    return nullptr;
  } catch (const std::exception& caught) {
    error = caught.what();
    return error.c_str();
  }
}

inline table::Axes axes_from(const std::int64_t* values) {
  table::Axes axes;
  for (const auto member : kAxes) {
    axes.*member = *values++;
  }
  return axes;
}

}  // namespace apo_op

#define APO_OP extern "C" __attribute__((visibility("default")))

APO_OP const char* apo_op_prepare(const std::int64_t* axes, int ordinal, apo_op::Prepared** prepared) {
  return apo_op::guarded([&] { *prepared = apo_op::prepare(apo_op::axes_from(axes), ordinal); });
}

APO_OP const char* apo_op_folder(const apo_op::Prepared* prepared) {
  return prepared->choice->source_folder.data();
}
// What to say where the row was measured on another model; nullptr where there is nothing to say.
APO_OP const char* apo_op_elsewhere(const apo_op::Prepared* prepared) {
  const table::Choice& choice = *prepared->choice;
  const table::Device& device = apo_op::device_at(prepared->ordinal);
  if (!choice.evidence.measured || table::measured_on(choice, device)) {
    return nullptr;
  }
  thread_local std::string text;
  text = std::string(choice.variant) + " was " + std::string(choice.evidence.statement) + ", and this is " +
         std::string(device.model) + ": 'apo export --torch' with --on-this-device judges it here";
  return text.c_str();
}
APO_OP const char* apo_op_constants(const apo_op::Prepared* prepared) {
  return prepared->constants.c_str();
}
APO_OP std::int64_t apo_op_capability(const apo_op::Prepared* prepared) {
  return apo_op::device_at(prepared->ordinal).compute_capability;
}
// Bytes of the scratch buffer `index`; -1: there are no more.
APO_OP std::int64_t apo_op_scratch(const apo_op::Prepared* prepared, std::size_t index) {
  return index < prepared->plan.scratch.size() ? prepared->plan.scratch[index].value : -1;
}

APO_OP const char* apo_op_load(apo_op::Prepared* prepared, const char* file) {
  return apo_op::guarded([&] { apo_op::load(*prepared, file); });
}

APO_OP const char* apo_op_run(const apo_op::Prepared* prepared, std::uint64_t* words, const std::int64_t* bytes,
                              int threads, void* stream) {
  return apo_op::guarded([&] { apo_op::run(*prepared, {words, bytes, threads, stream}); });
}
