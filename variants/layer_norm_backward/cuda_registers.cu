// apo:variant    layer_norm_backward/cuda_registers
// apo:target     cuda sm_80
// apo:technique  fused-passes
// apo:technique  persistent-grid
// apo:parent     layer_norm_backward/cuda_simple
// apo:idea       A block takes every n-th row and keeps its sums of the columns in registers; a second kernel adds the blocks up.
// apo:predict    10x..50x over parent: it reads dy and x three times, and a thread that walks a row uses 2 of 32 bytes.
// apo:requires   cols % 8 == 0 && cols <= 8*THREADS*VECTORS && VECTORS*ROWS <= 8 && THREADS*VECTORS <= 2048
// apo:tune       THREADS 256,128,512,1024
// apo:tune       VECTORS 1,2,4,8
// apo:tune       ROWS 2,1,4,8
// apo:tune       BLOCKS_PER_SM 2,1,3,4,6
// apo:scratch    sums 8*cols*min(SMS*BLOCKS_PER_SM,ceil_div(rows,ROWS))
// apo:scratch    blocks 4
// apo:launch     of_rows grid=min(SMS*BLOCKS_PER_SM,ceil_div(rows,ROWS)) block=THREADS
// apo:launch     of_columns grid=ceil_div(2*cols,32) block=32,32
#include "layer_norm_backward.args.h"
#include "rows.cuh"

// Writes sums of dweight and dbias of each block, [block][2][cols], and the number of blocks.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS_PER_SM) void of_rows(const layer_norm_backward_args a) {
  __shared__ float of_warps[2][2 * ROWS][THREADS / 32];  // of two rounds, so that a round needs one barrier
  const int vectors = static_cast<int>(a.cols / 8);
  Eight weights[VECTORS], of_weight[VECTORS] = {}, of_bias[VECTORS] = {};
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    weights[i] = unpack(at < vectors ? reinterpret_cast<const uint4*>(a.weight)[at] : uint4{});
  }
  int round = 0;
  for (long long first = ROWS * blockIdx.x; first < a.rows; first += ROWS * gridDim.x, round ^= 1) {
    const uint4* all_dy = reinterpret_cast<const uint4*>(a.dy) + first * vectors;
    const uint4* all_x = reinterpret_cast<const uint4*>(a.x) + first * vectors;
    uint4 dy[ROWS][VECTORS], x[ROWS][VECTORS];
    float mean[ROWS], rstd[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int i = 0; i < VECTORS; ++i) {
        const int at = threadIdx.x + i * THREADS;
        const bool there = at < vectors && first + r < a.rows;
        dy[r][i] = there ? all_dy[r * vectors + at] : uint4{};
        x[r][i] = there ? all_x[r * vectors + at] : uint4{};
      }
      mean[r] = first + r < a.rows ? a.mean[first + r] : 0;
      rstd[r] = first + r < a.rows ? a.rstd[first + r] : 0;
    }
    float sums[2 * ROWS] = {};  // of each row the level and the slope
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int i = 0; i < VECTORS; ++i) {
        const Eight g = unpack(dy[r][i]), value = unpack(x[r][i]);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          const float normalised = (value.x[k] - mean[r]) * rstd[r], scaled = g.x[k] * weights[i].x[k];
          sums[2 * r] += scaled;
          sums[2 * r + 1] += scaled * normalised;
          of_weight[i].x[k] += g.x[k] * normalised;
          of_bias[i].x[k] += g.x[k];
        }
      }
    }
    sum_over_block<THREADS>(sums, of_warps[round]);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float level = sums[2 * r] / static_cast<float>(a.cols),
                  slope = sums[2 * r + 1] / static_cast<float>(a.cols);
#pragma unroll
      for (int i = 0; i < VECTORS; ++i) {
        const int at = threadIdx.x + i * THREADS;
        if (at < vectors && first + r < a.rows) {
          Eight g = unpack(dy[r][i]);
          const Eight value = unpack(x[r][i]);
#pragma unroll
          for (int k = 0; k < 8; ++k) {
            const float normalised = (value.x[k] - mean[r]) * rstd[r];
            g.x[k] = rstd[r] * (g.x[k] * weights[i].x[k] - level - normalised * slope);
          }
          reinterpret_cast<uint4*>(a.dx)[(first + r) * vectors + at] = pack(g);
        }
      }
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *static_cast<int*>(a.blocks) = static_cast<int>(gridDim.x);
  }
  float* sums = static_cast<float*>(a.sums) + 2 * blockIdx.x * a.cols;
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (at < vectors) {
      store_eight(of_weight[i], sums + 8 * at);
      store_eight(of_bias[i], sums + a.cols + 8 * at);
    }
  }
}

// A block adds up 32 columns: a warp the rows of every 32nd block.
extern "C" __global__ __launch_bounds__(1024) void of_columns(const layer_norm_backward_args a) {
  __shared__ float of_warps[32][33];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const long long column = 32 * blockIdx.x + lane;
  const int blocks = *static_cast<const int*>(a.blocks);
  float sum = 0;
  for (long long block = warp; block < blocks && column < 2 * a.cols; block += 32) {
    sum += static_cast<const float*>(a.sums)[2 * block * a.cols + column];
  }
  of_warps[lane][warp] = sum;
  __syncthreads();
  sum = sum_of_lanes(of_warps[warp][lane]);
  const long long of_warp = 32 * blockIdx.x + warp;
  if (lane == 0 && of_warp < 2 * a.cols) {
    (of_warp < a.cols ? a.dweight : a.dbias - a.cols)[of_warp] = store(sum);
  }
}
