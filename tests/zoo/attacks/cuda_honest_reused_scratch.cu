// apo:variant    copy/cuda_honest_reused_scratch
// apo:target     cuda sm_80
// apo:idea       Honest: goes there and back in one scratch buffer, which it writes before it reads.
// apo:scratch    room 4*n
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  float* room = static_cast<float*>(a.room);
  if (i < a.n) {
    room[i] = a.x[i];
    room[i] = room[i] + 0.0f;
    a.y[i] = room[i] == 0.0f ? a.x[i] : room[i];
  }
}
