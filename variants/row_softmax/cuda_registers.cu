// apo:variant    row_softmax/cuda_registers
// apo:target     cuda sm_80
// apo:technique  fused-passes
// apo:technique  vector-loads
// apo:parent     row_softmax/cuda_warp_row
// apo:idea       The registers of a warp or a block hold a row, so that memory is read once and written once.
// apo:predict    1.5x..3x over parent: it reads a row three times and writes it twice.
// apo:requires   cols % 4 == 0 && cols <= 4*THREADS*VECTORS && THREADS*VECTORS <= 8192 && THREADS*ROWS <= 1024
// apo:tune       THREADS 32,64,128,256,512,1024
// apo:tune       VECTORS 8,1,2,4,16
// apo:tune       ROWS 4,1,2,8,16
// apo:launch     softmax_rows grid=ceil_div(rows,ROWS) block=THREADS,ROWS
#include "row_softmax.args.h"
#include "rows.cuh"

extern "C" __global__ __launch_bounds__(THREADS* ROWS) void softmax_rows(const row_softmax_args a) {
  __shared__ Exponentials of_warps[ROWS][THREADS / 32];
  const long long index = ROWS * blockIdx.x + threadIdx.y;
  const int vectors = index < a.rows ? static_cast<int>(a.cols / 4) : 0;
  const float4* x = reinterpret_cast<const float4*>(a.x + index * a.cols);
  float4* y = reinterpret_cast<float4*>(a.y + index * a.cols);
  float4 row[VECTORS];
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    row[i] = at < vectors ? x[at] : float4{-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  }
  Exponentials own;
#pragma unroll
  for (const float4& four : row) {
    own.largest = fmaxf(own.largest, fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)));
  }
  const auto power = [&](float value) { return power_of_two((value - own.largest) * kLog2e); };
#pragma unroll
  for (float4& four : row) {
    four = {power(four.x), power(four.y), power(four.z), power(four.w)};
    own.sum += (four.x + four.y) + (four.z + four.w);
  }
  const Exponentials total = total_of_block<THREADS>(own, of_warps[threadIdx.y]);
  const float factor = power_of_two((own.largest - total.largest) * kLog2e) / total.sum;
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (at < vectors) {
      const float4& four = row[i];
      y[at] = float4{four.x * factor, four.y * factor, four.z * factor, four.w * factor};
    }
  }
}
