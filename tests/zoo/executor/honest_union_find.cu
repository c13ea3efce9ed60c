// apo:variant    copy/honest_union_find
// apo:target     cuda sm_80
// apo:idea       Trees are joined by compare and swap of their roots, which are found by plain reads.
// apo:scratch    parents 4*n
// apo:launch     clear grid=ceil_div(n,128) block=128
// apo:launch     join grid=ceil_div(n,128) block=128
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

__device__ int root_of(const int* parents, int i) {
  while (parents[i] != i) {
    i = parents[i];
  }
  return i;
}

extern "C" __global__ void clear(const copy_args a) {
  const int i = 128 * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    static_cast<int*>(a.parents)[i] = i;
  }
}

extern "C" __global__ void join(const copy_args a) {
  const int i = 128 * blockIdx.x + threadIdx.x;
  int* parents = static_cast<int*>(a.parents);
  if (i + 7 >= a.n) {
    return;
  }
  for (;;) {
    const int one = root_of(parents, i);
    const int other = root_of(parents, i + 7);
    if (one == other || atomicCAS(&parents[max(one, other)], max(one, other), min(one, other)) == max(one, other)) {
      return;
    }
  }
}

extern "C" __global__ void kernel(const copy_args a) {
  const int i = 128 * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = root_of(static_cast<const int*>(a.parents), i) == i % 7 ? a.x[i] : -1;
  }
}
