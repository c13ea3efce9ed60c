// examples/ci/gpu_benchmarks.cu - 24 benchmarks of small GPU kernels that speak NVBench's language: -b NAME selects
// (and may repeat), --json FILE writes the mean cold GPU times. With -DPLANTED=1 five of them do 1, 2, 2 and 5 % more
// and 3 % less work.
//
//   nvcc -O3 -arch=native -o gpu_benchmarks examples/ci/gpu_benchmarks.cu
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int kThreads = 256;
constexpr int kCalls = 100;  // of an operation in a kernel; a planted change is more or fewer calls
constexpr int kSteps = 128;  // of an operation in a call
constexpr int kSamples = 15;
constexpr int kSizes[] = {1 << 14, 1 << 17};
constexpr std::size_t kFlushedBytes = std::size_t{128} << 20U;  // more than any L2 cache

#if PLANTED
const std::map<std::string, int> kPlanted = {
    {"multiply_add", 101}, {"square_root", 102}, {"hash", 102}, {"shuffle", 105}, {"neighbours", 97}};
#else
const std::map<std::string, int> kPlanted;
#endif

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
  }
}

// What a kernel's threads have in common: read-only data, a power of two of them, and a place for each in shared
// memory.
struct Block {
  const float* data;
  unsigned size;
  float* shared;
  unsigned index;
};

struct MultiplyAdd {
  __device__ static float step(const Block&, float x, unsigned) { return fmaf(x, 0.9999F, 0.5F); }
};
struct Polynomial {
  __device__ static float step(const Block&, float x, unsigned) { return fmaf(fmaf(0.1F, x, 0.2F), x, 0.3F); }
};
struct Exponential {
  __device__ static float step(const Block&, float x, unsigned) { return __expf(-x); }
};
struct Sine {
  __device__ static float step(const Block&, float x, unsigned) { return __sinf(x) + 1; }
};
struct SquareRoot {
  __device__ static float step(const Block&, float x, unsigned) { return sqrtf(x + 1); }
};
struct Division {
  __device__ static float step(const Block&, float x, unsigned) { return 1 / (x + 1); }
};
struct Hash {
  __device__ static float step(const Block&, float x, unsigned) {
    const unsigned bits = (__float_as_uint(x) ^ 0x9e3779b9U) * 16777619U;
    return __uint_as_float((bits & 0x7fffffU) | 0x3f800000U);
  }
};
struct Double {
  __device__ static float step(const Block&, float x, unsigned k) {
    return k % 8 == 0 ? static_cast<float>(fma(static_cast<double>(x), 0.999, 0.5)) : x;
  }
};
struct Neighbours {
  __device__ static float step(const Block& block, float x, unsigned k) {
    return x + block.data[(block.index + 32 * k) & (block.size - 1)];
  }
};
struct Gather {
  __device__ static float step(const Block& block, float x, unsigned k) {
    return x + block.data[(block.index * 2654435761U + k * 97U) & (block.size - 1)];
  }
};
struct Shared {
  __device__ static float step(const Block& block, float x, unsigned k) {
    return x + block.shared[(threadIdx.x + k) % kThreads];
  }
};
struct Shuffle {
  __device__ static float step(const Block&, float x, unsigned) { return 0.5F * (x + __shfl_xor_sync(~0U, x, 5)); }
};

template <class Operation>
__global__ void repeat(const float* data, unsigned size, float* out, int calls) {
  __shared__ float shared[kThreads];
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  float x = shared[threadIdx.x] = data[index];
  __syncthreads();
  const Block block{data, size, shared, index};
  for (int call = 0; call < calls; ++call) {
#pragma unroll 8
    for (unsigned k = 0; k < kSteps; ++k) {
      x = Operation::step(block, x, k);
    }
  }
  out[index] = x;
}

struct Benchmark {
  const char* name;
  void (*kernel)(const float*, unsigned, float*, int);
};

const Benchmark kBenchmarks[] = {{"multiply_add", repeat<MultiplyAdd>},
                                 {"polynomial", repeat<Polynomial>},
                                 {"exponential", repeat<Exponential>},
                                 {"sine", repeat<Sine>},
                                 {"square_root", repeat<SquareRoot>},
                                 {"division", repeat<Division>},
                                 {"hash", repeat<Hash>},
                                 {"double", repeat<Double>},
                                 {"neighbours", repeat<Neighbours>},
                                 {"gather", repeat<Gather>},
                                 {"shared", repeat<Shared>},
                                 {"shuffle", repeat<Shuffle>}};

struct Device {
  float* data = nullptr;
  float* out = nullptr;
  void* flushed = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
};

Device prepare() {
  constexpr std::size_t kLargest = 1 << 17;
  Device device;
  const std::vector<float> ones(kLargest, 1.0F);
  check(cudaMalloc(&device.data, kLargest * sizeof(float)));
  check(cudaMalloc(&device.out, kLargest * sizeof(float)));
  check(cudaMalloc(&device.flushed, kFlushedBytes));
  check(cudaMemcpy(device.data, ones.data(), kLargest * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaEventCreate(&device.begin));
  check(cudaEventCreate(&device.end));
  return device;
}

// The mean GPU time in seconds, after one call that is not counted.
double mean_cold_time(const Device& device, const Benchmark& benchmark, int size) {
  const auto planted = kPlanted.find(benchmark.name);
  const int calls = planted == kPlanted.end() ? kCalls : planted->second;
  double seconds = 0;
  for (int sample = -1; sample < kSamples; ++sample) {
    check(cudaMemsetAsync(device.flushed, 0, kFlushedBytes));
    check(cudaEventRecord(device.begin));
    benchmark.kernel<<<size / kThreads, kThreads>>>(device.data, static_cast<unsigned>(size), device.out, calls);
    check(cudaEventRecord(device.end));
    check(cudaEventSynchronize(device.end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, device.begin, device.end));
    seconds += sample < 0 ? 0 : 1e-3 * ms / kSamples;
  }
  return seconds;
}

std::string states_of(const Device& device, const Benchmark& benchmark) {
  std::string states;
  for (const int size : kSizes) {
    char value[32];
    std::snprintf(value, sizeof value, "%.9g", mean_cold_time(device, benchmark, size));
    states +=
        std::string(states.empty() ? "" : ",") + "{\"name\":\"Threads=" + std::to_string(size) +
        "\",\"is_skipped\":false,\"summaries\":[{\"tag\":\"nv/cold/time/gpu/mean\",\"data\":[{\"name\":\"value\"," +
        "\"type\":\"float64\",\"value\":\"" + value + "\"}]}]}";
  }
  return states;
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::string> wanted;
  std::string file = "/dev/stdout";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "-b") {
      wanted.insert(argv[i + 1]);
    } else if (option == "--json") {
      file = argv[i + 1];
    }
  }
  const Device device = prepare();
  std::string benchmarks;
  for (const Benchmark& benchmark : kBenchmarks) {
    if (wanted.empty() || wanted.count(benchmark.name) > 0) {
      benchmarks += std::string(benchmarks.empty() ? "" : ",") + "{\"name\":\"" + benchmark.name + "\",\"states\":[" +
                    states_of(device, benchmark) + "]}";
    }
  }
  std::ofstream(file) << "{\"benchmarks\":[" << benchmarks << "]}\n";
}
