// apo:variant    zoo_transpose/clean_transpose
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A transpose through a tile whose rows are one word longer.
// apo:launch     kernel grid=n/32,n/32 block=32,8
// zoo: expect none
#include "zoo_transpose.args.h"

extern "C" __global__ void kernel(const zoo_transpose_args a) {
  __shared__ float tile[32][33];
  const long long column = 32LL * blockIdx.x + threadIdx.x;
  const long long row = 32LL * blockIdx.y + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) {
    tile[threadIdx.y + j][threadIdx.x] = a.x[(row + j) * a.n + column];
  }
  __syncthreads();
  const long long to_column = 32LL * blockIdx.y + threadIdx.x;
  const long long to_row = 32LL * blockIdx.x + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) {
    a.y[(to_row + j) * a.n + to_column] = tile[threadIdx.x][threadIdx.y + j];
  }
}
