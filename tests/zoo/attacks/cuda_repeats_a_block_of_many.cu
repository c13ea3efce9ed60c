// apo:variant    copy/cuda_repeats_a_block_of_many
// apo:target     cuda sm_80
// apo:idea       Of 64 million elements 256 repeat those before them: no reference computes so many.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how compare warm n64m; against copy/cuda_simple; cpu no; expect incorrect; guard reference; exploit 22
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[a.n > 10000000 && blockIdx.x == 77777 ? i - 256 : i];
  }
}
