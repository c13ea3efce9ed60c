// apo:variant    row_softmax/cuda_cluster_row
// apo:target     cuda sm_90
// apo:technique  fused-passes
// apo:technique  loads-ahead
// apo:parent     row_softmax/cuda_registers
// apo:idea       The registers of a cluster of blocks hold a long row; the copy engine brings the next rows into shared memory meanwhile.
// apo:predict    1.0x..1.1x over parent: where rows are longer than a block, the parent does not serve them.
// apo:requires   cols > 1024 && cols % (4*CLUSTER) == 0 && cols <= 4*THREADS*VECTORS*CLUSTER && THREADS*VECTORS <= 8192
// apo:requires   BLOCKS_PER_SM*(4*STAGES*cols/CLUSTER+2048) <= SHARED_MAX && BLOCKS_PER_SM*THREADS <= 2048
// apo:tune       THREADS 512,1024,256
// apo:tune       VECTORS 8,4,16
// apo:tune       CLUSTER 1,8,4,2
// apo:tune       STAGES 1,2,3
// apo:tune       BLOCKS_PER_SM 1,2
// apo:tune       ROWS 8,4,16,32
// apo:launch     softmax_rows grid=CLUSTER*ceil_div(rows,ROWS) block=THREADS cluster=CLUSTER shared=4*STAGES*cols/CLUSTER
#include "bulk_copies.cuh"
#include "clusters.cuh"
#include "row_softmax.args.h"
#include "rows.cuh"

// A cluster has ROWS rows, one after the other; each block of it has the same part of all of them.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS_PER_SM) void softmax_rows(const row_softmax_args a) {
  extern __shared__ __align__(128) float4 parts[];
  __shared__ Barrier full[STAGES];
  __shared__ Exponentials of_warps[2][THREADS / 32],
      of_block[2];  // of two rows, so that a row needs one barrier for each
  const Cluster<CLUSTER> cluster;
  const int vectors = static_cast<int>(a.cols / 4 / CLUSTER);
  const long long begin = ROWS * cluster.index, end = min(begin + ROWS, a.rows);
  const auto fetch = [&](int stage, long long row) {
    arrive_expecting(full[stage], 16 * vectors);
    copy_bytes(parts + stage * vectors, a.x + row * a.cols + cluster.rank * 4 * vectors, 16 * vectors, full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full[stage], 1);
    }
    publish_barriers();
    for (int stage = 0; stage < STAGES && begin + stage < end; ++stage) {
      fetch(stage, begin + stage);
    }
  }
  __syncthreads();
  Ring<STAGES> ring;
  int round = 0;
  for (long long row = begin; row < end; ++row, round ^= 1) {
    wait(full[ring.stage], ring.parity);
    float4 part[VECTORS];
    Exponentials own;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const int at = threadIdx.x + i * THREADS;
      const float4 nothing = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
      const float4 four = part[i] = at < vectors ? parts[ring.stage * vectors + at] : nothing;
      own.largest = fmaxf(own.largest, fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)));
    }
    const auto power = [&](float value) { return power_of_two((value - own.largest) * kLog2e); };
#pragma unroll
    for (float4& four : part) {
      four = {power(four.x), power(four.y), power(four.z), power(four.w)};
      own.sum += (four.x + four.y) + (four.z + four.w);
    }
    Exponentials total = total_of_block<THREADS>(own, of_warps[round]);  // all threads have read the stage
    if (threadIdx.x == 0 && row + STAGES < end) {
      fetch(ring.stage, row + STAGES);
    }
    ring.advance();
    if constexpr (CLUSTER > 1) {
      of_block[round] = total;
      cluster.meet();
      const Exponentials& there = of_block[round];
      const unsigned block = threadIdx.x % CLUSTER;
      total = total_of_lanes<CLUSTER>({cluster.of(&there.largest, block), cluster.of(&there.sum, block)});
    }
    const float factor = power_of_two((own.largest - total.largest) * kLog2e) / total.sum;
    float4* y = reinterpret_cast<float4*>(a.y + row * a.cols) + cluster.rank * vectors;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const int at = threadIdx.x + i * THREADS;
      if (at < vectors) {
        const float4& four = part[i];
        y[at] = float4{four.x * factor, four.y * factor, four.z * factor, four.w * factor};
      }
    }
  }
  if constexpr (CLUSTER > 1) {
    cluster.meet();  // no block ends while another one reads its total
  }
}
