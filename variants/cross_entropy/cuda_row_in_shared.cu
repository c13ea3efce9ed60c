// apo:variant    cross_entropy/cuda_row_in_shared
// apo:target     cuda sm_90
// apo:technique  fused-passes
// apo:technique  loads-ahead
// apo:parent     cross_entropy/cuda_simple
// apo:idea       The copy engine brings rows into shared memory: both passes read them there, and the next row comes meanwhile.
// apo:predict    20x..100x over parent: a thread that walks a row uses 2 of the 32 bytes of every sector it reads, three times.
// apo:requires   cols % 8 == 0 && BLOCKS_PER_SM*(2*STAGES*cols+2048) <= SHARED_MAX && BLOCKS_PER_SM*THREADS <= 2048
// apo:tune       THREADS 512,1024,256
// apo:tune       BLOCKS_PER_SM 1,2
// apo:tune       STAGES 2,1
// apo:launch     classify grid=min(rows,SMS*BLOCKS_PER_SM) block=THREADS shared=2*STAGES*cols
#include "bulk_copies.cuh"
#include "cross_entropy.args.h"
#include "rows.cuh"

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS_PER_SM) void classify(const cross_entropy_args a) {
  extern __shared__ __align__(128) uint4 rows[];
  __shared__ Barrier full[STAGES];
  __shared__ Exponentials of_warps[2][THREADS / 32];  // of two rows, so that a row needs one barrier for them
  const int vectors = static_cast<int>(a.cols / 8);
  const auto fetch = [&](int stage, long long row) {
    const unsigned bytes = 16 * vectors;
    arrive_expecting(full[stage], bytes);
    copy_bytes(rows + stage * vectors, a.logits + row * a.cols, bytes, full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      init_barrier(full[stage], 1);
    }
    publish_barriers();
    for (int stage = 0; stage < STAGES && blockIdx.x + stage * gridDim.x < a.rows; ++stage) {
      fetch(stage, blockIdx.x + stage * gridDim.x);
    }
  }
  __syncthreads();
  Ring<STAGES> ring;
  int round = 0;
  for (long long row = blockIdx.x; row < a.rows; row += gridDim.x, round ^= 1) {
    const int target = static_cast<int>(a.targets[row]);
    wait(full[ring.stage], ring.parity);
    const uint4* x = rows + ring.stage * vectors;
    Exponentials own;
    for (int at = threadIdx.x; at < vectors; at += THREADS) {
      const Eight logits = unpack(x[at]);
      const float largest = fmaxf(own.largest, largest_of_eight(logits)), shift = largest * kLog2e;
      float sum = own.sum * power_of_two(own.largest * kLog2e - shift);
#pragma unroll
      for (const float logit : logits.x) {
        sum += power_of_two(logit * kLog2e - shift);
      }
      own = {largest, sum};
    }
    const Exponentials total = total_of_block<THREADS>(own, of_warps[round]);
    const float factor = a.dloss / total.sum, shift = total.largest * kLog2e;
    const float at_target = load(reinterpret_cast<const bf16*>(x)[target]);
    uint4* d = reinterpret_cast<uint4*>(a.dlogits) + row * vectors;
    for (int at = threadIdx.x; at < vectors; at += THREADS) {
      Eight gradients = unpack(x[at]);
#pragma unroll
      for (float& value : gradients.x) {
        value = power_of_two(value * kLog2e - shift) * factor;
      }
      d[at] = pack(gradients);
    }
    if (threadIdx.x == target / 8 % THREADS) {  // which has just written the target's gradient
      a.losses[row] = logf(total.sum) + total.largest - at_target;
      a.dlogits[row * a.cols + target] = store((power_of_two(at_target * kLog2e - shift) / total.sum - 1) * a.dloss);
    }
    __syncthreads();
    if (threadIdx.x == 0 && row + STAGES * gridDim.x < a.rows) {
      fetch(ring.stage, row + STAGES * gridDim.x);
    }
    ring.advance();
  }
}
