// apo:variant    layer_norm/cuda_registers
// apo:target     cuda sm_80
// apo:technique  fused-passes
// apo:technique  vector-loads
// apo:parent     layer_norm/cuda_simple
// apo:idea       Registers of a block hold rows, 16 bytes a load: memory is read once, and rows share weights, biases and barriers.
// apo:predict    20x..100x over parent: a thread that walks a row uses 2 of the 32 bytes of every sector it reads, three times.
// apo:requires   cols % 8 == 0 && cols <= 8*THREADS*VECTORS && THREADS*VECTORS*ROWS <= 8192 && THREADS*BLOCKS_PER_SM <= 2048
// apo:tune       THREADS 128,32,64,256,512,1024
// apo:tune       VECTORS 2,1,4,8
// apo:tune       ROWS 2,1,4
// apo:tune       BLOCKS_PER_SM 1,8
// apo:launch     normalise_rows grid=ceil_div(rows,ROWS) block=THREADS
//
// Two rows at 64 registers a thread are 16 rows of 2048 on an SM, and 4096 of them two rounds. Four rows are one round,
// with no room for weights and biases beside them: these are read behind the sums.
#include "layer_norm.args.h"
#include "rows.cuh"

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS_PER_SM) void normalise_rows(const layer_norm_args a) {
  __shared__ float of_warps[2][ROWS][THREADS / 32];
  const int vectors = static_cast<int>(a.cols / 8);
  const long long first = ROWS * blockIdx.x;
  const uint4* x = reinterpret_cast<const uint4*>(a.x) + first * vectors;
  uint4* y = reinterpret_cast<uint4*>(a.y) + first * vectors;
  uint4 rows[ROWS][VECTORS], weights[VECTORS], biases[VECTORS];
  load_rows<THREADS>(rows, x, vectors, first, a.rows);
  const auto load_weights = [&](int i) {
    const int at = threadIdx.x + i * THREADS;
    weights[i] = at < vectors ? reinterpret_cast<const uint4*>(a.weight)[at] : uint4{};
    biases[i] = at < vectors ? reinterpret_cast<const uint4*>(a.bias)[at] : uint4{};
  };
#pragma unroll
  for (int i = 0; i < (ROWS < 4 ? VECTORS : 0); ++i) {
    load_weights(i);
  }
  float mean[ROWS] = {}, rstd[ROWS] = {};
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (const uint4& words : rows[r]) {
      mean[r] += sum_of_eight(unpack(words));
    }
  }
  sum_over_block<THREADS>(mean, of_warps[0]);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    mean[r] /= static_cast<float>(a.cols);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      if (threadIdx.x + i * THREADS < vectors) {
        const Eight values = unpack(rows[r][i]);
#pragma unroll
        for (const float value : values.x) {
          rstd[r] += (value - mean[r]) * (value - mean[r]);
        }
      }
    }
  }
  sum_over_block<THREADS>(rstd, of_warps[1]);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    rstd[r] = rsqrtf(rstd[r] / static_cast<float>(a.cols) + a.eps);
    if (threadIdx.x == 0 && first + r < a.rows) {
      a.mean[first + r] = mean[r];
      a.rstd[first + r] = rstd[r];
    }
  }
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (ROWS >= 4) {
      load_weights(i);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (at < vectors && first + r < a.rows) {
        Eight values = unpack(rows[r][i]);
        const Eight weight = unpack(weights[i]), bias = unpack(biases[i]);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          values.x[k] = (values.x[k] - mean[r]) * rstd[r] * weight.x[k] + bias.x[k];
        }
        y[r * vectors + at] = pack(values);
      }
    }
  }
}
