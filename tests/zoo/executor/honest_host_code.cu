// apo:variant    copy/honest_host_code
// apo:target     cuda sm_80
// apo:idea       Host code launches a kernel over memory that it allocates.
// zoo: expect valid
#include <cstddef>
#include <random>
#include <vector>

template <int kThreads>
__global__ void gather(float* y, const float* x, const int* order, size_t n) {
  const size_t i = size_t{kThreads} * blockIdx.x + threadIdx.x;
  if (i < n) {
    y[order[i]] = x[order[i]];
  }
}

// The blocks go backwards from a drawn place, so that the order on the device has to be the one of the host.
void copy(const float* x, float* y, int64_t n) {
  constexpr int kThreads = 128;
  std::mt19937 random(1);
  const auto shift = static_cast<int64_t>(std::uniform_real_distribution<float>(0, 1)(random) * static_cast<float>(n));
  std::vector<int> order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    order[static_cast<size_t>(i)] = static_cast<int>((n - 1 - i + shift) % n);
  }
  static float* kept = nullptr;  // for all calls of a process
  if (kept == nullptr) {
    cudaMalloc(&kept, sizeof(float));
  }
  cudaMemset(kept, 0, sizeof(float));
  int* on_device = nullptr;
  cudaMalloc(&on_device, n * sizeof(int));
  cudaMemcpy(on_device, order.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  const dim3 gridDim(static_cast<unsigned>((n + kThreads - 1) / kThreads)), blockDim(kThreads);
  gather<kThreads><<<gridDim, blockDim>>>(y, x, on_device, n);
  cudaDeviceSynchronize();
  cudaFree(on_device);
}
