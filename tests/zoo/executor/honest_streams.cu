// apo:variant    copy/honest_streams
// apo:target     cuda sm_80
// apo:idea       Host code orders two streams of its own by events, and a cooperative launch waits for the grid.
// zoo: expect valid
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void part(const float* x, float* y, long long n) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

// Element by element the block after the one that wrote it: nothing but the grid's barrier orders the two.
__global__ void turned(float* y, float* turned, long long n) {
  const auto grid = cooperative_groups::this_grid();
  __shared__ long long first;  // kept while the block waits
  if (threadIdx.x == 0) first = (grid.block_rank() + 1) % grid.num_blocks() * blockDim.x;
  for (long long i = grid.thread_rank(); i < n; i += grid.size()) turned[n - 1 - i] = y[i];
  grid.sync();
  for (long long i = grid.thread_rank(); i < n; i += grid.size()) y[i] = 0;
  grid.sync();
  for (long long i = first + threadIdx.x; i < n; i += grid.size()) y[i] = turned[n - 1 - i];
}

void copy(const float* x, float* y, long long n, cudaStream_t s) {
  static cudaStream_t own[2];
  static cudaEvent_t before, after[2];
  if (!before) {
    int least = 0, greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaStreamCreateWithFlags(&own[0], cudaStreamNonBlocking);
    cudaStreamCreateWithPriority(&own[1], cudaStreamNonBlocking, greatest);
    for (cudaEvent_t* event : {&before, &after[0], &after[1]}) cudaEventCreateWithFlags(event, cudaEventDisableTiming);
  }
  cudaEventRecord(before, s);
  for (int i = 0; i < 2; ++i) {
    const long long from = i * (n / 2), to = i ? n : n / 2;
    cudaStreamWaitEvent(own[i], before, 0);
    part<<<static_cast<unsigned>((to - from + 127) / 128 + 1), 128, 0, own[i]>>>(x + from, y + from, to - from);
    cudaEventRecord(after[i], own[i]);
    cudaStreamWaitEvent(s, after[i], 0);
  }
  float* other = nullptr;
  cudaMallocAsync(&other, n * sizeof(float), s);
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, turned, 64, 0);
  void* arguments[] = {&y, &other, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(turned), 7 * blocks, 64, arguments, 0, s);
  cudaFreeAsync(other, s);
}
