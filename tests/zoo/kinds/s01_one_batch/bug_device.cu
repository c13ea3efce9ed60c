// apo:variant  gated/bug_device
// apo:target   cuda sm_80
// apo:idea     The gate of the first sample serves all of them.
// apo:launch   gate grid=B*T block=64
#include "gated.args.h"

extern "C" __global__ void gate(const gated_args a) {
  for (long long c = threadIdx.x; c < a.C; c += 64)
    a.y[blockIdx.x * a.C + c] = a.x[blockIdx.x * a.C + c] * a.g[c];
}
