// apo:variant    binary_backward_bf16/cuda_small
// apo:target     cuda sm_80
// apo:technique  cold-code
// apo:parent     binary_backward_bf16/cuda_one_launch
// apo:idea       A small call takes as long as its instructions take to arrive: one way for sums and products, whatever B repeats along.
// apo:predict    1.0x..1.5x over parent: the parent comes to some 700 instructions, of which less than half are left.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 1048576 && op <= 2 && need_dA && d7 % 8 == 0 && (!need_dB || kept % 2)
// apo:tune       STRIP 0,1,2,3,4,5,6
// apo:launch     gradients grid=max(1,min(SMS,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,512))) block=512
#define TILE_SHIFT 9
#include "binary_backward_bf16.args.h"
#include "broadcast_small.cuh"

extern "C" __global__ __launch_bounds__(kTileThreads) void gradients(const __grid_constant__ binary_backward_bf16_args a) {
  small_gradients<8, STRIP>(a);
}
