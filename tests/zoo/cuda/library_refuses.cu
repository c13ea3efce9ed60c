// apo:variant    copy/library_refuses
// apo:target     cuda sm_80
// apo:idea       Says no to every call.
// zoo: expect refused; guard process; evidence apo_launch returned 7; needs nvcc
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
  const auto blocks = static_cast<unsigned>((args.n + 255) / 256);
  return blocks > 0 ? 7 : 0;
}
