// apo:variant    copy/library_writes_a_file
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Tries to leave a file behind; gives up when it may not.
// zoo: how verify
// zoo: expect refused
// zoo: guard landlock
// zoo: exploit 28
// zoo: evidence apo_launch returned 9
// zoo: needs nvcc
#include <fcntl.h>

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
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (open("left_behind", O_WRONLY | O_CREAT, 0600) < 0) {
    return 9;
  }
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
