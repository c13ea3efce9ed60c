// apo:variant    zoo_copy/l2_traffic
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Reads the whole input 128 times past the L1, all of it from the L2.
// apo:requires   n == 16777216 || n == 1048576 || n == 4096
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect l2-bound
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long vectors = a.n / 4;
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= vectors) {
    return;
  }
  const auto* x = reinterpret_cast<const float4*>(a.x);
  float sum = 0;
#pragma unroll 8
  for (int turn = 0; turn < 128; ++turn) {
    const float4 some = __ldcg(x + ((i + 1024LL * turn) & (vectors - 1)));
    sum += some.x + some.y + some.z + some.w;  // planted
  }
  float4 own = x[i];
  own.x = fmaf(0.0f, sum, own.x);
  reinterpret_cast<float4*>(a.y)[i] = own;
}
