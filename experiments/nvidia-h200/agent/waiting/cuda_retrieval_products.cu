// apo:variant    e88_backward/cuda_retrieval_products
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  parked-sums
// apo:technique  spilled-history
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:technique  multi-head
// apo:parent     cuda_best
// apo:idea       The replay retrieves by four fp16 products of the words that the history keeps anyway, whose results land in the lanes that need them; sums of dq and dk are parked.
// apo:predict    1.03x..1.12x over parent: 195 + 414 instructions in the two loops where 213 + 464 are, 19 more a step around them: some 49 of 760, and 8 shuffles a step where 30 are.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "product_steps.cuh"

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_parked<ProductSteps>(a, reinterpret_cast<ProductWork*>(shared)[threadIdx.x / 32]);
}
