// apo:variant    pow_backward/cuda_vectorised
// apo:target     cuda sm_80
// apo:technique  vector-loads
// apo:parent     pow_backward/cuda_two_stage
// apo:idea       Sixteen bytes a load and a store wherever the innermost dimension allows it.
// apo:predict    1.0x..1.5x over parent: a quarter of the loads and stores, and as many more bytes under way; the bytes of large_columns take 95 us on an H200, its three special functions an element 24 us.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:tune       UNROLL 4,2,1
// apo:tune       BLOCKS_PER_SM 2,4
// apo:tune       STREAMED 0,1
// apo:scratch    slabs 16
// apo:scratch    partials 4*SMS*BLOCKS_PER_SM*256*4
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256
// apo:launch     add grid=max(1,min(SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),32))) block=256
#include "broadcast_tiles.cuh"
#include "pow_backward.args.h"

extern "C" __global__ __launch_bounds__(kTileThreads,
                                        BLOCKS_PER_SM) void gradients(const __grid_constant__ pow_backward_args a) {
  tiled_gradients<4, UNROLL, STREAMED != 0>(a);
}

extern "C" __global__ __launch_bounds__(kTileThreads) void add(const __grid_constant__ pow_backward_args a) {
  add_slabs(a);
}
