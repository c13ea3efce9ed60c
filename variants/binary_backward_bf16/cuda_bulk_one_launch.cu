// apo:variant    binary_backward_bf16/cuda_bulk_one_launch
// apo:target     cuda sm_90
// apo:technique  one-launch
// apo:parent     binary_backward_bf16/cuda_bulk_copies
// apo:idea       Strips of columns narrow enough that each block has one to itself, and rows as before: no partial sums, no second kernel.
// apo:predict    1.0x..1.3x over parent: the second launch takes 4 to 5 us, and more where there are many columns.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632 && 8192*STAGES*VECTORS+12288 <= SHARED_MAX && BLOCKS_PER_SM*VECTORS <= 2 && (d0*d1*d2*d3*d4*d5*d6*d7 <= 65536 || !need_dB || (kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) >= 32*SMS)
// apo:tune       STAGES 4,8,12
// apo:tune       VECTORS 1,2
// apo:tune       BLOCKS_PER_SM 2,1
// apo:tune       STREAMED 1,0
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256 shared=8*STAGES*VECTORS*1024
#include "binary_backward_bf16.args.h"
#include "broadcast_bulk.cuh"

extern "C" __global__ __launch_bounds__(kTileThreads, BLOCKS_PER_SM) void gradients(
    const __grid_constant__ binary_backward_bf16_args a) {
  bulk_gradients<8, VECTORS, STAGES, STREAMED != 0>(a);
}
