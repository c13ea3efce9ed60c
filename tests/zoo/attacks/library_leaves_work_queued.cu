// apo:variant    copy/library_leaves_work_queued
// apo:target     cuda sm_80
// apo:idea       Leaves half of the GPU busy behind its own kernel until it is called again, for 20 ms at most.
// zoo: how verify; expect refused; guard build; exploit 32; evidence cannot be recorded, memory of the host; needs nvcc
#include "slow_library.cuh"

static __device__ long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Multiplies until `calls` moves on from `call`, or for so long that the next sample has come and gone.
static __global__ void hinder(volatile const int* calls, int call, float* sink) {
  constexpr long long kLongest = 20'000'000;
  const long long begin = nanoseconds();
  float value = threadIdx.x;
  while (*calls == call && nanoseconds() - begin < kLongest) {
#pragma unroll 16
    for (int step = 0; step < 512; ++step) {
      value = value * 1.0001f + 0.5f;
    }
  }
  if (value == 0.25f) {
    *sink = value;
  }
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  static cudaStream_t own = nullptr;
  static cudaEvent_t copied = nullptr;
  static volatile int* calls = nullptr;
  static int blocks = 0;
  if (own == nullptr) {
    void* flag = nullptr;
    int processors = 0;
    if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
        cudaEventCreateWithFlags(&copied, cudaEventDisableTiming) != cudaSuccess ||
        cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped) != cudaSuccess ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess) {
      return 2;
    }
    calls = static_cast<volatile int*>(flag);
    *calls = 0;
    blocks = 4 * processors;  // half of an SM's threads
  }
  *calls = *calls + 1;  // what the last call left behind ends
  launch(args, stream);
  cudaEventRecord(copied, stream);
  cudaStreamWaitEvent(own, copied, 0);
  hinder<<<blocks, 256, 0, own>>>(const_cast<const int*>(calls), *calls, args.y);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
