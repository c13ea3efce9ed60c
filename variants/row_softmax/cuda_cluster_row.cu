// apo:variant    row_softmax/cuda_cluster_row
// apo:target     cuda sm_90
// apo:technique  fused-passes
// apo:technique  loads-ahead
// apo:parent     row_softmax/cuda_warp_row
// apo:idea       The registers of a cluster of blocks hold a long row; the copy engine brings the next one into shared memory meanwhile.
// apo:predict    2x..10x over parent: a warp that walks a long row reads it three times and writes it twice.
// apo:requires   cols > 1024 && cols % (4*CLUSTER) == 0 && cols <= 4*THREADS*VECTORS*CLUSTER && THREADS*VECTORS <= 8192
// apo:requires   VECTORS % PARTS == 0 && 16*THREADS*VECTORS/PARTS*STAGES+2048 <= SHARED_MAX
// apo:tune       THREADS 512,1024,256
// apo:tune       VECTORS 16,8
// apo:tune       CLUSTER 1,4,8,2
// apo:tune       PARTS 4,2,1,8
// apo:tune       STAGES 6,3,1,2,4,7
// apo:tune       ROWS 16,4,64
// apo:launch     softmax_rows grid=CLUSTER*ceil_div(rows,ROWS) block=THREADS cluster=CLUSTER shared=16*THREADS*VECTORS/PARTS*STAGES
#include "bulk_copies.cuh"
#include "clusters.cuh"
#include "row_softmax.args.h"
#include "rows.cuh"

namespace {

// What stands where `own` stands in this block, in another block of the cluster.
template <class Float>
__device__ Float in_block(unsigned block, const Float& own) {
  Float there;
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; ld.shared::cluster.f32 %0, [there]; }"
               : "=f"(there)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&own))), "r"(block)
               : "memory");
  return there;
}

}  // namespace

// A cluster has ROWS rows, one after the other; each block of it has the same share of all of them, which comes in
// PARTS.
extern "C" __global__ __launch_bounds__(THREADS) void softmax_rows(const row_softmax_args a) {
  constexpr int kVectors = VECTORS / PARTS, kPart = THREADS * kVectors;
  extern __shared__ __align__(128) float4 parts[];
  __shared__ Barrier full[STAGES];
  __shared__ Exponentials of_warps[2][THREADS / 32], of_block[2];  // of two rows, so that a row needs one barrier each
  const Cluster<CLUSTER> cluster;
  const int vectors = static_cast<int>(a.cols / 4 / CLUSTER);
  const long long begin = ROWS * cluster.index;
  const int count = static_cast<int>(PARTS * min(ROWS, a.rows - begin));
  const float4* x = reinterpret_cast<const float4*>(a.x + begin * a.cols) + cluster.rank * vectors;
  float4* y = reinterpret_cast<float4*>(a.y + begin * a.cols) + cluster.rank * vectors;
  const auto fetch = [&](int stage, int part) {
    const int first = part % PARTS * kPart, bytes = 16 * max(0, min(kPart, vectors - first));
    arrive_expecting(full[stage], bytes);
    if (bytes > 0) {
      copy_bytes(parts + stage * kPart, x + part / PARTS * (a.cols / 4) + first, bytes, full[stage]);
    }
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full[stage], 1);
    }
    publish_barriers();
    for (int stage = 0; stage < STAGES && stage < count; ++stage) {
      fetch(stage, stage);
    }
  }
  __syncthreads();
  Ring<STAGES> ring;
  int round = 0;
  for (int part = 0; part < count; round ^= 1, y += a.cols / 4) {
    float4 row[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      if (i % kVectors == 0) {
        wait(full[ring.stage], ring.parity);
      }
      const bool there = threadIdx.x + i * THREADS < vectors;
      const float4 nothing = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
      row[i] = there ? parts[ring.stage * kPart + i % kVectors * THREADS + threadIdx.x] : nothing;
      if (i % kVectors == kVectors - 1) {
        __syncthreads();  // all threads have read the part
        if (threadIdx.x == 0 && part + STAGES < count) {
          fetch(ring.stage, static_cast<int>(part + STAGES));
        }
        ring.advance();
        ++part;
      }
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
    Exponentials total = total_of_block<THREADS>(own, of_warps[round]);
    if constexpr (CLUSTER > 1) {
      of_block[round] = total;
      cluster.meet();
      const Exponentials& there = of_block[round];
      const unsigned block = threadIdx.x % CLUSTER;
      total = total_of_lanes<CLUSTER>({in_block(block, there.largest), in_block(block, there.sum)});
    }
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
  if constexpr (CLUSTER > 1) {
    cluster.meet();  // no block ends while another one reads its total
  }
}
