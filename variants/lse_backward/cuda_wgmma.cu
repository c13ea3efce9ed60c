// apo:variant    lse_backward/cuda_wgmma
// apo:target     cuda sm_90a
// apo:technique  wgmma
// apo:technique  bulk-copies
// apo:technique  persistent-grid
// apo:technique  streamed-scores
// apo:parent     lse_backward/cuda_tensor_core
// apo:idea       wgmma on tiles that a warpgroup of their own copies; one tile's weights are made while the last one is added.
// apo:predict    6x..9x over parent: at H 32, S 4096 the same 4 products at 550 to 750 TFLOP/s in place of 83.
// apo:tune       STAGES 4,3,5
// apo:tune       TURNS 0,1
// apo:scratch    maps 256*SMS+128
// apo:scratch    parts 1024*SMS*(D<=64?64:128)
// apo:requires   D % 8 == 0 && D <= 128
// apo:launch     multiply grid=min(SMS,heads*group*ceil_div(S,128)+heads*ceil_div(keys,128)) block=384 shared=1024*ceil_div(256*(D<=64?64:128)*(1+STAGES)+544*STAGES+272,1024)
#include "wgmma_items.cuh"

extern "C" __global__ __launch_bounds__(384, 1) void multiply(const lse_backward_args a) {
  if (a.D <= 64) {
    all_work<64>(a);
  } else {
    all_work<128>(a);
  }
}
