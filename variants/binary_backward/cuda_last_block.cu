// apo:variant    binary_backward/cuda_last_block
// apo:target     cuda sm_80
// apo:technique  last-block-sums
// apo:technique  oversubscribed-grid
// apo:parent     binary_backward/cuda_one_launch
// apo:idea       Blocks share a strip of columns that is wide enough for whole lines, and the last of them to end adds their sums.
// apo:predict    1.0x..1.3x over parent: strips of one block each are half a line wide, and a block a multiprocessor has too few bytes under way.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648 && (d0*d1*d2*d3*d4*d5*d6*d7 <= 1048576 || !need_dB || kept%2 || (kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) >= 16*SMS)
// apo:tune       BLOCKS_PER_SM 4,8
// apo:tune       RESIDENT 4,3,2
// apo:tune       UNROLL 1,2,4
// apo:tune       STREAMED 0,1
// apo:scratch    partials 4*SMS*BLOCKS_PER_SM*128
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256
#include "binary_backward.args.h"
#include "broadcast_flat.cuh"

extern "C" __global__ __launch_bounds__(kTileThreads,
                                        RESIDENT) void gradients(const __grid_constant__ binary_backward_args a) {
  one_launch_gradients<4, UNROLL, STREAMED != 0>(a);
}
