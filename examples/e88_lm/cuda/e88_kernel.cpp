// cuda/e88_kernel.cpp - loads a cubin through the driver and launches it as its plan says.
#include "cuda/e88_kernel.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/check_status.h"
#include "data/error.h"

namespace byte_lm {
namespace {

std::int64_t attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

// "GPU-" and the UUID in its usual groups.
std::string id_of(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

bool is_cluster(const PlannedLaunch& launch) {
  return launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1;
}

unsigned extent(std::int64_t value) {
  return static_cast<unsigned>(value);
}

// Keeps the buffer at `base` in L2, as far as the device sets aside memory for that.
CUlaunchAttribute persisting_window(void* base) {
  std::size_t limit = 0;
  check(cuCtxGetLimit(&limit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), "cuCtxGetLimit");
  if (limit == 0) {
    limit = static_cast<std::size_t>(attribute(cudaDevAttrMaxPersistingL2CacheSize));
    check(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, limit), "cuCtxSetLimit");
  }
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  check(cuMemGetAddressRange(&begin, &bytes, reinterpret_cast<CUdeviceptr>(base)), "cuMemGetAddressRange");
  CUlaunchAttribute result = {};
  result.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
  result.value.accessPolicyWindow = {.base_ptr = base,
                                     .num_bytes = std::min(bytes, limit),
                                     .hitRatio = 1.0F,
                                     .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
                                     .missProp = CU_ACCESS_PROPERTY_STREAMING};
  return result;
}

std::vector<CUlaunchAttribute> attributes_of(const PlannedLaunch& launch, void* const* words) {
  std::vector<CUlaunchAttribute> attributes;
  if (launch.cooperative) {
    CUlaunchAttribute& cooperative = attributes.emplace_back();
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  if (is_cluster(launch)) {
    CUlaunchAttribute& cluster = attributes.emplace_back();
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {
        .x = extent(launch.cluster[0]), .y = extent(launch.cluster[1]), .z = extent(launch.cluster[2])};
  }
  if (launch.l2_persist > 0) {
    attributes.push_back(persisting_window(words[launch.l2_persist - 1]));
  }
  return attributes;
}

}  // namespace

DeviceFacts device_facts() {
  int device = 0;
  cudaDeviceProp properties = {};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return {.id = id_of(properties.uuid),
          .model = properties.name,
          .compute_capability = 10 * properties.major + properties.minor,
          .sms = properties.multiProcessorCount,
          .shared_max = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
          .max_threads = properties.maxThreadsPerBlock};
}

E88Kernel::E88Kernel(const std::filesystem::path& folder, const std::string& family, const Recurrence& r)
    : axes_({r.batch, r.length, r.heads, r.state, r.state, 1, 1}) {
  const DeviceFacts facts = device_facts();
  plan_ = plan_kernel(folder, family, axes_, facts);
  check(cuModuleLoad(&module_, build_kernel(plan_, facts.compute_capability).c_str()), plan_.variant);
  for (const PlannedLaunch& launch : plan_.launches) {
    CUfunction& function = functions_.emplace_back();
    check(cuModuleGetFunction(&function, module_, launch.kernel.c_str()), plan_.variant + ", kernel " + launch.kernel);
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             static_cast<int>(launch.shared_bytes)),
          plan_.variant + ", shared memory");
    if (is_cluster(launch)) {
      check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), plan_.variant);
    }
  }
  for (const std::int64_t bytes : plan_.scratch) {
    void*& buffer = scratch_.emplace_back();
    check(cudaMalloc(&buffer, static_cast<std::size_t>(bytes)), "scratch of an E88 kernel");
  }
}

E88Kernel::~E88Kernel() {
  for (void* buffer : scratch_) {
    cudaFree(buffer);  // a destructor: the error that is left was reported by the call that caused it
  }
  cuModuleUnload(module_);
}

void E88Kernel::run(cudaStream_t stream, const std::vector<const void*>& tensors) const {
  // The argument struct: pointers to tensors, to scratch, then the axes; eight bytes each.
  std::vector<void*> words;
  std::transform(tensors.begin(), tensors.end(), std::back_inserter(words),
                 [](const void* tensor) { return const_cast<void*>(tensor); });
  words.insert(words.end(), scratch_.begin(), scratch_.end());
  for (const std::int64_t axis : axes_) {
    words.push_back(reinterpret_cast<void*>(axis));
  }
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    launch(plan_.launches[i], functions_[i], stream, words.data());
  }
}

void E88Kernel::launch(const PlannedLaunch& launch, CUfunction function, cudaStream_t stream, void* arguments) const {
  std::vector<CUlaunchAttribute> attributes = attributes_of(launch, static_cast<void* const*>(arguments));
  const CUlaunchConfig config = {.gridDimX = extent(launch.grid[0]),
                                 .gridDimY = extent(launch.grid[1]),
                                 .gridDimZ = extent(launch.grid[2]),
                                 .blockDimX = extent(launch.block[0]),
                                 .blockDimY = extent(launch.block[1]),
                                 .blockDimZ = extent(launch.block[2]),
                                 .sharedMemBytes = extent(launch.shared_bytes),
                                 .hStream = stream,
                                 .attrs = attributes.data(),
                                 .numAttrs = extent(static_cast<std::int64_t>(attributes.size()))};
  void* parameters[] = {arguments};
  check(cuLaunchKernelEx(&config, function, parameters, nullptr), plan_.variant + ", kernel " + launch.kernel);
}

}  // namespace byte_lm
