// apo:variant    copy/cuda_honest_one_thread
// apo:target     cuda sm_80
// apo:idea       Honest: a single thread does all of it, where there is little.
// apo:requires   n <= 4096
// apo:launch     k grid=1 block=1
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  for (long long i = 0; i < a.n; ++i) {
    a.y[i] = a.x[i];
  }
}
