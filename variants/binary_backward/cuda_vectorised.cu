// apo:variant    binary_backward/cuda_vectorised
// apo:target     cuda sm_80
// apo:technique  vector-loads
// apo:parent     binary_backward/cuda_two_stage
// apo:idea       Sixteen bytes a load and a store wherever the innermost dimension allows it.
// apo:predict    1.0x..1.5x over parent: a quarter of the load and store instructions, and as many more bytes under way.
// apo:toggle     ONE_LAUNCH one-launch
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:requires   !ONE_LAUNCH || d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648 && (d0*d1*d2*d3*d4*d5*d6*d7 <= 1048576 || !need_dB || (kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) >= 16*SMS)
// apo:requires   THREADS*BLOCKS_PER_SM <= 2048 && (VECTOR == 4 || !STREAMED)
// apo:tune       UNROLL 4,2,8,1,6
// apo:tune       BLOCKS_PER_SM 2,4,8,1,3,6
// apo:tune       STREAMED 0,1
// apo:tune       THREADS 256,128,512
// apo:tune       VECTOR 4,2,1
// apo:scratch    slabs 16 when=!ONE_LAUNCH
// apo:scratch    partials 4*SMS*BLOCKS_PER_SM*THREADS*VECTOR when=!ONE_LAUNCH
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,THREADS))) block=THREADS
// apo:launch     add grid=max(1,min(SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),32))) block=THREADS when=!ONE_LAUNCH
//
// ONE_LAUNCH: no element of dB has two blocks, so that there are no partial sums and no second kernel.
#define TILE_SHIFT (THREADS == 128 ? 7 : THREADS == 512 ? 9 : 8)
#include "binary_backward.args.h"
#if ONE_LAUNCH
#include "broadcast_flat.cuh"
#else
#include "broadcast_tiles.cuh"
#endif

extern "C" __global__ __launch_bounds__(kTileThreads,
                                        BLOCKS_PER_SM) void gradients(const __grid_constant__ binary_backward_args a) {
#if ONE_LAUNCH
  one_launch_gradients<VECTOR, UNROLL, STREAMED != 0>(a);
#else
  tiled_gradients<VECTOR, UNROLL, STREAMED != 0>(a);
#endif
}

#if !ONE_LAUNCH
extern "C" __global__ __launch_bounds__(kTileThreads) void add(const __grid_constant__ binary_backward_args a) {
  add_slabs(a);
}
#endif
