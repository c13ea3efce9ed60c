// apo:variant    pow_backward/cuda_two_stage
// apo:target     cuda sm_80
// apo:technique  column-reduction
// apo:technique  two-stage-reduction
// apo:technique  persistent-grid
// apo:parent     pow_backward/cuda_naive
// apo:idea       A kernel a pattern, with sums in registers and slabs that a second kernel adds in order; one power for both gradients, by lg2 and ex2.
// apo:predict    2x..8x over parent: no offset and no atomic for an element, and about 16 instructions for its functions in place of 185, which alone take 0.19 ms of large_columns on an H200.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:tune       UNROLL 4,8
// apo:tune       BLOCKS_PER_SM 4,8
// apo:scratch    slabs 16
// apo:scratch    partials 4*SMS*BLOCKS_PER_SM*256*1
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256
// apo:launch     add grid=max(1,min(SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),32))) block=256
#include "broadcast_tiles.cuh"
#include "pow_backward.args.h"

extern "C" __global__ __launch_bounds__(kTileThreads,
                                        BLOCKS_PER_SM) void gradients(const __grid_constant__ pow_backward_args a) {
  tiled_gradients<1, UNROLL, false>(a);
}

extern "C" __global__ __launch_bounds__(kTileThreads) void add(const __grid_constant__ pow_backward_args a) {
  add_slabs(a);
}
