// apo:variant    pow_backward/cuda_one_launch
// apo:target     cuda sm_80
// apo:technique  one-launch
// apo:parent     pow_backward/cuda_vectorised
// apo:idea       A block has a strip of columns, or a group of warps a row, and adds all of it: no partial sums, no second kernel.
// apo:predict    1.0x..1.3x over parent: a small call is two launches of which one goes; a large one saves the sums that it wrote and read, as a product does at 1.06x.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648 && (d0*d1*d2*d3*d4*d5*d6*d7 <= 1048576 || !need_dB || (kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) >= 16*SMS)
// apo:tune       UNROLL 4,2
// apo:tune       BLOCKS_PER_SM 1,2
// apo:tune       STREAMED 0,1
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,512))) block=512
#define TILE_SHIFT 9
#include "broadcast_flat.cuh"
#include "pow_backward.args.h"

extern "C" __global__ __launch_bounds__(kTileThreads, BLOCKS_PER_SM) void gradients(
    const __grid_constant__ pow_backward_args a) {
  one_launch_gradients<4, UNROLL, STREAMED != 0>(a);
}
