// apo:variant  gated/right_device
// apo:target   cuda sm_80
// apo:idea     A gate for each sample.
// apo:launch   gate grid=B*T block=64
#include "gated.args.h"

extern "C" __global__ void gate(const gated_args a) {
  for (long long c = threadIdx.x; c < a.C; c += 64)
    a.y[blockIdx.x * a.C + c] = a.x[blockIdx.x * a.C + c] * a.g[blockIdx.x / a.T * a.C + c];
}
