// apo:variant    lse_backward/cuda_wgmma_fused
// apo:target     cuda sm_90a
// apo:technique  fused-dq-dk
// apo:parent     lse_backward/cuda_wgmma
// apo:idea       Blocks of keys alone: a tile's weights cross shared memory once and serve dk and, by atomics of 16 bytes, dq.
// apo:predict    1.0x..1.3x over parent: 3 products in place of 4, against 64 kB of atomics a tile in the L2 cache and two small launches.
// apo:tune       STAGES 3,2
// apo:scratch    maps 256*SMS+128
// apo:scratch    sums 512*heads*group*ceil_div(S,128)*(D<=64?64:128)
// apo:requires   D % 8 == 0 && D <= 128 && heads*group*S*D <= 17179869184
// apo:launch     zero grid=min(8*SMS,heads*group*ceil_div(S,128)) block=256
// apo:launch     to_keys grid=min(SMS,heads*ceil_div(keys,128)) block=384 shared=65536+1024*ceil_div(256*(D<=64?64:128)*(1+STAGES)+544*STAGES+272,1024)
// apo:launch     to_queries grid=min(8*SMS,heads*group*ceil_div(S,128)) block=256
#define TURNS 0
#include "wgmma_fused.cuh"

extern "C" __global__ void zero(const lse_backward_args a) {
  const long long count = a.heads * a.group * query_tiles(a) * (a.D <= 64 ? 64 : 128) * (kTile / 4);
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < count; i += 256LL * gridDim.x) {
    static_cast<float4*>(a.sums)[i] = make_float4(0, 0, 0, 0);
  }
}

extern "C" __global__ __launch_bounds__(384, 1) void to_keys(const lse_backward_args a) {
  if (a.D <= 64) {
    fused_work<64>(a);
  } else {
    fused_work<128>(a);
  }
}

extern "C" __global__ __launch_bounds__(256) void to_queries(const lse_backward_args a) {
  if (a.D <= 64) {
    finish_queries<64>(a);
  } else {
    finish_queries<128>(a);
  }
}
