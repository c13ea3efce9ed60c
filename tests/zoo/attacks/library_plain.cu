// apo:variant    copy/library_plain
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Honest: one kernel from host code, for others to be held against.
// zoo: expect valid
// zoo: needs nvcc
#include "copy.args.h"

static __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  copy_elements<<<static_cast<unsigned>((args.n + 255) / 256), 256, 0, stream>>>(args);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
