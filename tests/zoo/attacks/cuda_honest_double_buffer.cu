// apo:variant    copy/cuda_honest_double_buffer
// apo:target     cuda sm_80
// apo:idea       Honest: two tiles of shared memory in turn, a barrier between filling and using.
// apo:launch     k grid=min(ceil_div(n,256),SMS) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  __shared__ float tile[2][256];
  const long long stride = 256LL * gridDim.x;
  int turn = 0;
  for (long long begin = 256LL * blockIdx.x; begin < a.n; begin += stride, turn ^= 1) {
    if (begin + threadIdx.x < a.n) {
      tile[turn][threadIdx.x] = a.x[begin + threadIdx.x];
    }
    __syncthreads();
    const int other = static_cast<int>(threadIdx.x) ^ 255;
    if (begin + other < a.n) {
      a.y[begin + other] = tile[turn][other];
    }
  }
}
