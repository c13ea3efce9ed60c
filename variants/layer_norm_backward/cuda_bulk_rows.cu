// apo:variant    layer_norm_backward/cuda_bulk_rows
// apo:target     cuda sm_90
// apo:technique  fused-passes
// apo:technique  loads-ahead
// apo:parent     layer_norm_backward/cuda_simple
// apo:idea       A block an SM: groups of threads take rows that the copy engine brings, and keep their sums of the columns in registers.
// apo:predict    10x..60x over parent: it reads dy and x three times, and a thread that walks a row uses 2 of 32 bytes.
// apo:requires   cols % 8 == 0 && cols <= 8*THREADS*VECTORS && THREADS*GROUPS <= 1024 && THREADS*GROUPS*VECTORS <= 1024
// apo:requires   4*cols*STAGES*GROUPS+4096 <= SHARED_MAX
// apo:tune       THREADS 256,512,128
// apo:tune       VECTORS 1,2
// apo:tune       GROUPS 4,2,1
// apo:tune       STAGES 4,3,2,6
// apo:scratch    sums 8*cols*min(SMS,ceil_div(rows,GROUPS))
// apo:scratch    blocks 4
// apo:launch     of_rows grid=min(SMS,ceil_div(rows,GROUPS)) block=THREADS,GROUPS shared=4*cols*STAGES*GROUPS
// apo:launch     of_columns grid=ceil_div(2*cols,32) block=32,32
#include "bulk_copies.cuh"
#include "layer_norm_backward.args.h"
#include "rows.cuh"

// Writes sums of dweight and dbias of each block, [block][2][cols], and the number of blocks.
extern "C" __global__ __launch_bounds__(THREADS* GROUPS) void of_rows(const layer_norm_backward_args a) {
  extern __shared__ __align__(128) uint4 rows[];  // of each group its stages, dy and x in each
  __shared__ Barrier all_full[GROUPS][STAGES];
  __shared__ float of_warps[GROUPS][2][2][THREADS / 32];  // of two rows, so that a row needs one barrier
  const int vectors = static_cast<int>(a.cols / 8), group = threadIdx.y;
  uint4* own = rows + group * STAGES * 2 * vectors;
  Barrier* full = all_full[group];
  const int count = static_cast<int>(a.rows), step = GROUPS * gridDim.x, begin = GROUPS * blockIdx.x + group;
  const auto fetch = [&](int stage, long long row) {
    const unsigned bytes = 16 * vectors;
    arrive_expecting(full[stage], 2 * bytes);
    copy_bytes(own + 2 * stage * vectors, a.dy + row * a.cols, bytes, full[stage]);
    copy_bytes(own + (2 * stage + 1) * vectors, a.x + row * a.cols, bytes, full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full[stage], 1);
    }
    publish_barriers();
    for (int stage = 0; stage < STAGES && begin + stage * step < count; ++stage) {
      fetch(stage, begin + stage * step);
    }
  }
  uint4 weights[VECTORS];
  Eight of_weight[VECTORS] = {}, of_bias[VECTORS] = {};
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    weights[i] = at < vectors ? reinterpret_cast<const uint4*>(a.weight)[at] : uint4{};
  }
  float next_mean = begin < count ? a.mean[begin] : 0, next_rstd = begin < count ? a.rstd[begin] : 0;
  __syncthreads();
  Ring<STAGES> ring;
  int round = 0;
  for (int row = begin; row < count; row += step, round ^= 1) {
    const float mean = next_mean, rstd = next_rstd;
    if (row + step < count) {
      next_mean = a.mean[row + step];
      next_rstd = a.rstd[row + step];
    }
    wait(full[ring.stage], ring.parity);
    uint4 dy[VECTORS], x[VECTORS];
    float sums[2] = {};  // the level and the slope
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const int at = threadIdx.x + i * THREADS;
      dy[i] = at < vectors ? own[2 * ring.stage * vectors + at] : uint4{};
      x[i] = at < vectors ? own[(2 * ring.stage + 1) * vectors + at] : uint4{};
      const Eight g = unpack(dy[i]), value = unpack(x[i]), weight = unpack(weights[i]);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const float normalised = (value.x[k] - mean) * rstd, scaled = g.x[k] * weight.x[k];
        sums[0] += scaled;
        sums[1] += scaled * normalised;
        of_weight[i].x[k] += g.x[k] * normalised;
        of_bias[i].x[k] += g.x[k];
      }
    }
    sum_over<THREADS>(sums, of_warps[group][round], [&] { meet(group + 1, THREADS); });
    if (threadIdx.x == 0 && row + STAGES * step < count) {  // all threads of the group have read the stage
      fetch(ring.stage, row + STAGES * step);
    }
    ring.advance();
    const float level = sums[0] / static_cast<float>(a.cols), slope = sums[1] / static_cast<float>(a.cols);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const int at = threadIdx.x + i * THREADS;
      if (at < vectors) {
        Eight g = unpack(dy[i]);
        const Eight value = unpack(x[i]), weight = unpack(weights[i]);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          g.x[k] = rstd * (g.x[k] * weight.x[k] - level - (value.x[k] - mean) * rstd * slope);
        }
        reinterpret_cast<uint4*>(a.dx)[1LL * row * vectors + at] = pack(g);
      }
    }
  }
  __syncthreads();
  float* of_groups = reinterpret_cast<float*>(rows);  // [group][2][cols], in place of the rows
#pragma unroll
  for (int i = 0; i < VECTORS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (at < vectors) {
      store_eight(of_weight[i], of_groups + 2 * group * a.cols + 8 * at);
      store_eight(of_bias[i], of_groups + (2 * group + 1) * a.cols + 8 * at);
    }
  }
  __syncthreads();
  for (int at = threadIdx.y * THREADS + threadIdx.x; at < 2 * a.cols; at += THREADS * GROUPS) {
    float sum = 0;
    for (int from = 0; from < GROUPS; ++from) {
      sum += of_groups[2 * from * a.cols + at];
    }
    static_cast<float*>(a.sums)[2 * blockIdx.x * a.cols + at] = sum;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) {
    *static_cast<int*>(a.blocks) = static_cast<int>(gridDim.x);
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
