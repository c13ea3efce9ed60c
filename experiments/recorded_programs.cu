// experiments/recorded_programs.cu - calls of CUDA, each in an NVTX range `call` that `apo record` can record.
//
//   nvcc -arch=native -std=c++17 -o programs recorded_programs.cu -lcublas -lcuda -ldl
//   apo record --range call -- ./programs tma
//
// `ends`, `crashes`, `leaves`, `faults` and `hangs` do so within the range; `hog` leaves 3.5 GiB of the GPU's memory until a
// line comes.
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <string>

namespace {

constexpr int kCount = 1 << 18;
constexpr int kBlocks = kCount / 256;

float* make(int elements, float step) {
  static float host[kCount];
  for (int i = 0; i < elements; ++i) {
    host[i] = 1 + step * static_cast<float>(i % 97);
  }
  float* at = nullptr;
  cudaMalloc(&at, sizeof(float) * elements);
  cudaMemcpy(at, host, sizeof(float) * elements, cudaMemcpyHostToDevice);
  return at;
}

// Tells the recorder what memory is: a mark in the range.
void name(const char* role, const char* label, const float* at) {
  char text[128];
  std::snprintf(text, sizeof text, "apo:%s %s f32[%d] %p", role, label, kCount, static_cast<const void*>(at));
  nvtxMarkA(text);
}

template <class Call>
void record(Call call) {
  const float* x = make(kCount, 0.5f);
  float* y = make(kCount, 0);
  cudaDeviceSynchronize();
  nvtxRangePushA("call");
  call(x, y);
  name("input", "x", x);
  name("output", "y", y);
  nvtxRangePop();
}

__global__ void scaled(const float* x, float* y, float a) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = a * x[i];
}

__global__ void sum(const float* a, const float* b, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = a[i] + b[i];
}

// ---- a tensor map

constexpr int kWidth = 512;
constexpr int kTile = 32;
namespace device = cuda::device::experimental;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void tiles(const __grid_constant__ CUtensorMap map, float* y) {
  __shared__ alignas(128) float tile[kTile][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    device::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    device::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, blockIdx.x * kTile, blockIdx.y * kTile, arrived);
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof tile);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
    y[(blockIdx.y * kTile + i / kTile) * kWidth + blockIdx.x * kTile + i % kTile] = 2 * tile[i / kTile][i % kTile];
  }
}

void tma(const float* x, float* y) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {kWidth, kCount / kWidth};
  const cuuint64_t strides[] = {sizeof(float) * kWidth};
  const cuuint32_t box[] = {kTile, kTile};
  const cuuint32_t steps[] = {1, 1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(x), sizes, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  tiles<<<dim3(kWidth / kTile, kCount / kWidth / kTile), 128>>>(map, y);
}

// ---- tables of the module

__device__ float table_of_values[256];
__constant__ float factor;

__global__ void look_up(const float* x, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = factor * table_of_values[static_cast<int>(x[i]) & 255] * x[i];
}

void table(const float* x, float* y) {
  look_up<<<kBlocks, 256>>>(x, y);
}

float* block_sums = nullptr;

// Copies from the host are not in the range.
void prepare() {
  float host[256];
  for (int i = 0; i < 256; ++i) {
    host[i] = 1.0f / static_cast<float>(i + 1);
  }
  const float three = 3;
  cudaMemcpyToSymbol(table_of_values, host, sizeof host);
  cudaMemcpyToSymbol(factor, &three, sizeof three);
  block_sums = make(64, 0);
}

// ---- a cooperative launch

__global__ void normalise(const float* x, float* y, float* sums) {
  const auto grid = cooperative_groups::this_grid();
  __shared__ float part[256];
  float own = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < kCount; i += static_cast<int>(grid.size())) {
    own += x[i];
  }
  part[threadIdx.x] = own;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      part[threadIdx.x] += part[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = part[0];
  }
  grid.sync();
  float total = 0;
  for (int i = 0; i < gridDim.x; ++i) {
    total += sums[i];
  }
  for (int i = static_cast<int>(grid.thread_rank()); i < kCount; i += static_cast<int>(grid.size())) {
    y[i] = kCount * x[i] / total;
  }
}

void cooperative(const float* x, float* y) {
  void* parameters[] = {&x, &y, &block_sums};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(normalise), 64, 256, parameters, 0, nullptr);
}

// ---- two streams beside the default one

void streams(const float* x, float* y) {
  float* part[2];
  cudaStream_t side[2];
  cudaEvent_t begin;
  cudaEvent_t end[2];
  cudaEventCreate(&begin);
  cudaEventRecord(begin, nullptr);
  for (int i = 0; i < 2; ++i) {
    cudaMalloc(&part[i], sizeof(float) * kCount);
    cudaStreamCreateWithFlags(&side[i], cudaStreamNonBlocking);
    cudaEventCreate(&end[i]);
    cudaStreamWaitEvent(side[i], begin, 0);
    scaled<<<kBlocks, 256, 0, side[i]>>>(x, part[i], 1.0f + static_cast<float>(i));
    cudaEventRecord(end[i], side[i]);
    cudaStreamWaitEvent(nullptr, end[i], 0);
  }
  sum<<<kBlocks, 256>>>(part[0], part[1], y);
}

// ---- 3 GiB that are new in the range

void large(const float* x, float* y) {
  float* own = nullptr;
  cudaMalloc(&own, std::size_t{3} << 30);
  scaled<<<kBlocks, 256>>>(x, own, 2);
  scaled<<<kBlocks, 256>>>(own, y, 2);
  cudaFree(own);
}

// ---- arrays of pointers

void pointers(const float* x, float* y) {
  constexpr int kSide = 64;
  constexpr int kBatch = kCount / kSide / kSide;
  static const float* from[kBatch];
  static float* to[kBatch];
  for (int i = 0; i < kBatch; ++i) {
    from[i] = x + i * kSide * kSide;
    to[i] = y + i * kSide * kSide;
  }
  const float** x_of = nullptr;
  float** y_of = nullptr;
  cudaMalloc(&x_of, sizeof from);
  cudaMalloc(&y_of, sizeof to);
  cudaMemcpy(x_of, from, sizeof from, cudaMemcpyHostToDevice);
  cudaMemcpy(y_of, to, sizeof to, cudaMemcpyHostToDevice);
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  const float one = 1;
  const float zero = 0;
  nvtxRangePushA("multiply");
  cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, x_of, kSide, x_of, kSide, &zero, y_of,
                     kSide, kBatch);
  nvtxRangePop();
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  if (what == "hog") {
    std::size_t unused = 0;
    std::size_t all = 0;
    cudaMemGetInfo(&unused, &all);
    void* taken = nullptr;
    std::puts(cudaMalloc(&taken, unused - (std::size_t{7} << 29)) == cudaSuccess ? "taken" : "not taken");
    std::fflush(stdout);
    return std::getchar() == EOF;
  }
  prepare();
  record([&](const float* x, float* y) {
    if (what == "tma") {
      tma(x, y);
    } else if (what == "table") {
      table(x, y);
    } else if (what == "cooperative") {
      cooperative(x, y);
    } else if (what == "streams") {
      streams(x, y);
    } else if (what == "pointers") {
      pointers(x, y);
    } else if (what == "large") {
      large(x, y);
    } else {
      scaled<<<kBlocks, 256>>>(x, y, 2);
    }
    if (what == "faults") {
      scaled<<<256 * kBlocks, 256>>>(x, y, 2);
    }
    if (what == "hangs") {
      pause();
    }
    if (what == "crashes") {
      std::abort();
    }
    if (what == "ends") {
      std::exit(0);
    }
    if (what == "leaves") {
      _exit(0);
    }
  });
  return cudaDeviceSynchronize();
}
