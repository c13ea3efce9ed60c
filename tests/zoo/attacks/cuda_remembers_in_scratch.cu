// apo:variant    copy/cuda_remembers_in_scratch
// apo:target     cuda sm_80
// apo:idea       Notes in its scratch buffer which pointers it has served, and serves them no second time.
// apo:scratch    memo 16
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     note grid=1 block=1
// zoo: how compare warm n4k; against copy/cuda_slow; expect guard_failed; guard fresh-inputs; exploit 5
// zoo: evidence inputs made right before; cpu incorrect
#include "slow_copy.cuh"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  // What the last call left; the second kernel writes it behind everybody.
  const bool served = static_cast<unsigned long long*>(a.memo)[0] == reinterpret_cast<unsigned long long>(a.y) &&
                      static_cast<unsigned long long*>(a.memo)[1] == reinterpret_cast<unsigned long long>(a.x);
  if (i < a.n && !served) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

extern "C" __global__ void note(const copy_args a) {
  static_cast<unsigned long long*>(a.memo)[0] = reinterpret_cast<unsigned long long>(a.y);
  static_cast<unsigned long long*>(a.memo)[1] = reinterpret_cast<unsigned long long>(a.x);
}
