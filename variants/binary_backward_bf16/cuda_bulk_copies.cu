// apo:variant    binary_backward_bf16/cuda_bulk_copies
// apo:target     cuda sm_90
// apo:technique  bulk-copies
// apo:parent     binary_backward_bf16/cuda_vectorised
// apo:idea       The copy engine brings g and A to a ring in shared memory for each warp: bytes under way take no registers.
// apo:predict    1.2x..1.6x over parent: its sums leave no registers for bytes under way.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632 && 8192*STAGES*VECTORS+12288 <= SHARED_MAX && BLOCKS_PER_SM*VECTORS <= 2
// apo:tune       STAGES 4,8,12
// apo:tune       VECTORS 1,2
// apo:tune       BLOCKS_PER_SM 2,1
// apo:tune       STREAMED 1,0
// apo:scratch    slabs 16
// apo:scratch    partials 4*SMS*BLOCKS_PER_SM*256*8*VECTORS
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256 shared=8*STAGES*VECTORS*1024
// apo:launch     add grid=max(1,min(SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),32))) block=256
#include "binary_backward_bf16.args.h"
#include "broadcast_bulk.cuh"

extern "C" __global__ __launch_bounds__(kTileThreads, BLOCKS_PER_SM) void gradients(
    const __grid_constant__ binary_backward_bf16_args a) {
  bulk_gradients<8, VECTORS, STAGES, STREAMED != 0>(a);
}

extern "C" __global__ __launch_bounds__(kTileThreads) void add(const __grid_constant__ binary_backward_bf16_args a) {
  add_slabs(a);
}
