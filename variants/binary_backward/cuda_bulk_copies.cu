// apo:variant    binary_backward/cuda_bulk_copies
// apo:target     cuda sm_90
// apo:technique  bulk-copies
// apo:parent     binary_backward/cuda_vectorised
// apo:idea       The copy engine brings g and A to a ring in shared memory for each warp: bytes under way take no registers.
// apo:predict    1.0x..1.15x over parent: 64 KiB under way on each multiprocessor at any time, not only between loads and stores.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632 && 8192*STAGES*VECTORS+8192 <= SHARED_MAX
// apo:tune       STAGES 4,8,12
// apo:tune       VECTORS 2,1
// apo:tune       BLOCKS_PER_SM 2,1
// apo:tune       STREAMED 1,0
// apo:scratch    slabs 16
// apo:scratch    partials 4*SMS*BLOCKS_PER_SM*256*4*VECTORS
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256 shared=8*STAGES*VECTORS*1024
// apo:launch     add grid=max(1,min(SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),32))) block=256
#include "binary_backward.args.h"
#include "broadcast_bulk.cuh"

extern "C" __global__ __launch_bounds__(kTileThreads,
                                        BLOCKS_PER_SM) void gradients(const __grid_constant__ binary_backward_args a) {
  bulk_gradients<4, VECTORS, STAGES, STREAMED != 0>(a);
}

extern "C" __global__ __launch_bounds__(kTileThreads) void add(const __grid_constant__ binary_backward_args a) {
  add_slabs(a);
}
