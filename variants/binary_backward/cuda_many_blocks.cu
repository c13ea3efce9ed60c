// apo:variant    binary_backward/cuda_many_blocks
// apo:target     cuda sm_90
// apo:technique  oversubscribed-grid
// apo:parent     binary_backward/cuda_one_launch
// apo:idea       More blocks than fit at once, so that one loads while another ends; a strip of columns may have a cluster of them.
// apo:predict    1.0x..1.25x over parent: a block a multiprocessor has too few bytes under way, and a narrow strip half lines.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648 && (d0*d1*d2*d3*d4*d5*d6*d7 <= 1048576 || !need_dB || (kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) >= 16*SMS/(CLUSTERS?8:1))
// apo:tune       BLOCKS_PER_SM 64,4,16
// apo:tune       RESIDENT 4,3,2
// apo:tune       UNROLL 2,1,4
// apo:tune       STREAMED 0,1
// apo:toggle     CLUSTERS cluster-sums
// apo:launch     gradients grid=(CLUSTERS?8:1)*max(1,ceil_div(min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)),CLUSTERS?8:1)) block=256
#include "binary_backward.args.h"
#include "broadcast_flat.cuh"

#if CLUSTERS
#define APO_CLUSTER __cluster_dims__(8, 1, 1)
#else
#define APO_CLUSTER
#endif

extern "C" __global__ APO_CLUSTER
__launch_bounds__(kTileThreads, RESIDENT) void gradients(const __grid_constant__ binary_backward_args a) {
  one_launch_gradients<4, UNROLL, STREAMED != 0, CLUSTERS ? 8 : 1>(a);
}
