// apo:variant    copy/cuda_honest_persistent_blocks
// apo:target     cuda sm_80
// apo:idea       Honest: one block a multiprocessor goes through everything.
// apo:launch     k grid=SMS block=1024
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  for (long long i = 1024LL * blockIdx.x + threadIdx.x; i < a.n; i += 1024LL * gridDim.x) {
    a.y[i] = a.x[i];
  }
}
