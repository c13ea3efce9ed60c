// apo:variant    copy/library_works_on_its_own_stream
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Launches on a stream of its own and does not wait: the work runs beside what is not timed.
// zoo: how compare cold n1m
// zoo: against copy/library_slow
// zoo: expect not_accepted
// zoo: guard idle
// zoo: exploit 8
// zoo: needs nvcc
#include "copy.args.h"

// Eight thousand multiplications by one that the compiler cannot see through.
__device__ float slowly(float value, long long n) {
  const float one = n > 0 ? 1.0f : 2.0f;
#pragma unroll 16
  for (int step = 0; step < 8000; ++step) {
    value *= one;
  }
  return value;
}

static __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

static void launch(const copy_args& args, cudaStream_t stream) {
  copy_elements<<<static_cast<unsigned>((args.n + 255) / 256), 256, 0, stream>>>(args);
}

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static cudaStream_t own = nullptr;
  if (own == nullptr && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) {
    return 2;
  }
  launch(args, own);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
