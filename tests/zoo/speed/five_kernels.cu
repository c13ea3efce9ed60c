// apo:variant    zoo_copy/five_kernels
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Copies a fifth in each of five different kernels, so that a call has five kinds of launches to count.
// apo:launch     plain grid=ceil_div(n,5*128)+1 block=128
// apo:launch     strided grid=4 block=128
// apo:launch     staged grid=ceil_div(n,5*128)+1 block=128
// apo:launch     shuffled grid=ceil_div(n,5*128)+1 block=128
// apo:launch     added grid=ceil_div(n,5*128)+1 block=128
// zoo: workload n4k
#include "zoo_copy.args.h"

static __device__ long long begin_of(const zoo_copy_args& a, int fifth) {
  return a.n * fifth / 5;
}

static __device__ long long index_in(const zoo_copy_args& a, int fifth) {
  return begin_of(a, fifth) + 128LL * blockIdx.x + threadIdx.x;
}

extern "C" __global__ void plain(const zoo_copy_args a) {
  const long long i = index_in(a, 0);
  if (i < begin_of(a, 1)) {
    a.y[i] = a.x[i];
  }
}

extern "C" __global__ void strided(const zoo_copy_args a) {
  for (long long i = index_in(a, 1); i < begin_of(a, 2); i += 128LL * gridDim.x) {
    a.y[i] = a.x[i];
  }
}

// Through shared memory, turned round and back.
extern "C" __global__ void staged(const zoo_copy_args a) {
  __shared__ float tile[128];
  const long long i = index_in(a, 2);
  tile[127 - threadIdx.x] = i < begin_of(a, 3) ? a.x[i] : 0;
  __syncthreads();
  if (i < begin_of(a, 3)) {
    a.y[i] = tile[127 - threadIdx.x];
  }
}

// Each lane loads its neighbour's element, and they exchange them.
extern "C" __global__ void shuffled(const zoo_copy_args a) {
  const long long i = index_in(a, 3);
  const long long neighbour = i + 1 - 2LL * (threadIdx.x & 1);
  const float other = neighbour < a.n ? a.x[neighbour] : 0;
  const float mine = __shfl_xor_sync(0xffffffffU, other, 1);
  if (i < begin_of(a, 4)) {
    a.y[i] = mine;
  }
}

extern "C" __global__ void added(const zoo_copy_args a) {
  const long long i = index_in(a, 4);
  if (i < a.n) {
    a.y[i] = 0;
    atomicAdd(&a.y[i], a.x[i]);
  }
}
