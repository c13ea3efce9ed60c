// experiments/court/claims/peers/cublaslt_choose.cu - the fastest of cuBLASLt's ways for each size, both layouts of b.
//
//   nvcc -O2 -o choose cublaslt_choose.cu -lcublasLt && ./choose 4096_4096_4096 64_4096_4096
//
// Prints "M_N_K TRANSPOSED WAY microseconds" a size: the smallest median of seven calls, of up to 100 ways a layout, as
// CUDA-L2's benchmark tunes its yardstick.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cublaslt_product.h"

namespace {

constexpr int kCalls = 7;

void check(int error) {
  if (error != 0) {
    std::fprintf(stderr, "cublaslt_choose: %s\n", cudaGetErrorString(static_cast<cudaError_t>(error)));
    std::exit(1);
  }
}

// Of a buffer that holds both operands, the result and the workspace.
float median(const Product<100>& product, int way, char* memory, cudaEvent_t begin, cudaEvent_t end) {
  float times[kCalls] = {};
  char* const right = memory + 2 * product.m * product.k;
  char* const result = right + 2 * product.k * product.n;
  char* const workspace = result + 2 * product.m * product.n;
  for (float& time : times) {
    check(cudaEventRecord(begin));
    if (product.run(way, memory, right, result, workspace, nullptr) != 0) {
      return 1e9f;
    }
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&time, begin, end));
  }
  std::sort(times, times + kCalls);
  return times[kCalls / 2];
}

}  // namespace

int main(int count, char** sizes) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 1; i < count; ++i) {
    long long m = 0, n = 0, k = 0;
    if (std::sscanf(sizes[i], "%lld_%lld_%lld", &m, &n, &k) != 3) {
      std::fprintf(stderr, "cublaslt_choose: '%s' is no size: write 4096_4096_4096\n", sizes[i]);
      return 1;
    }
    char* memory = nullptr;
    check(cudaMalloc(&memory, 2 * (m * k + k * n + m * n) + kWorkspaceBytes));
    check(cudaMemset(memory, 0x3c, 2 * (m * k + k * n)));
    float best = 1e9f;
    int layout = 0, chosen = 0;
    for (const bool transposed : {false, true}) {
      const Product<100> product(m, n, k, transposed);
      for (int way = 0; way < product.found; ++way) {
        const float time = median(product, way, memory, begin, end);
        if (time < best) {
          best = time;
          layout = transposed ? 1 : 0;
          chosen = way;
        }
      }
    }
    std::printf("%s %d %d %.2f\n", sizes[i], layout, chosen, 1000 * best);
    check(cudaFree(memory));
  }
  return 0;
}
