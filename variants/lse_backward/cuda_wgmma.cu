// apo:variant    lse_backward/cuda_wgmma
// apo:target     cuda sm_90a
// apo:technique  wgmma
// apo:technique  bulk-copies
// apo:technique  persistent-grid
// apo:technique  streamed-scores
// apo:parent     lse_backward/cuda_tensor_core
// apo:idea       wgmma on tiles that a warpgroup of their own copies; one tile's weights are made while the last one is added.
// apo:predict    6x..9x over parent at H 32, S 4096: the same 4 products at 550 to 750 TFLOP/s in place of 83.
// apo:tune       STAGES 4,3,5
// apo:tune       TURNS 1,0
// apo:scratch    maps 384
// apo:scratch    queries 528*heads*group*ceil_div(S,128)
// apo:requires   D % 8 == 0 && D <= 128
// apo:launch     prepare grid=min(4*SMS,heads*group*ceil_div(S,128)) block=256
// apo:launch     multiply grid=min(SMS,heads*group*ceil_div(S,128)+heads*ceil_div(keys,128)) block=384 shared=1024*ceil_div(256*(D<=64?64:128)*(1+STAGES)+544*STAGES+16,1024)
#include "wgmma_tiles.cuh"

// The maps by two warps of the first block; a tile of queries by each warp.
extern "C" __global__ void prepare(const lse_backward_args a) {
  __shared__ __align__(128) unsigned long long words[2][kTensorMapBytes / 8];
  const Prepared prepared(a);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (blockIdx.x == 0 && warp < 2) {
    const bool is_keys = warp == 1;
    const Matrices from{is_keys ? a.k : a.q, is_keys ? a.heads : a.heads * a.group, is_keys ? a.keys : a.S, a.D};
    make_tensor_map(prepared.map(is_keys), words[warp], from, kTile);
  }
  const long long tiles = a.heads * a.group * prepared.tiles_of_head;
  for (long long tile = 8LL * blockIdx.x + warp; tile < tiles; tile += 8LL * gridDim.x) {
    const long long head = tile / prepared.tiles_of_head, first = tile % prepared.tiles_of_head * kTile;
    for (int t = 0; t < 4; ++t) {
      const int column = 8 * (15 - lane % 16) + 2 * t + lane / 16;
      const bool there = first + column < a.S;
      const long long row = head * a.S + first + column;
      const float dlse = there ? a.dlse[row] : 0;  // whose logarithm makes the weights 0
      prepared.queries[tile].offsets[column] = log2f(fabsf(dlse)) - (there ? kLog2e * a.lse[row] : 0);
      prepared.queries[tile].signs[t] = __ballot_sync(kAll, dlse < 0);
    }
  }
}

extern "C" __global__ __launch_bounds__(384, 1) void multiply(const lse_backward_args a) {
  if (a.D <= 64) {
    all_work<64>(a);
  } else {
    all_work<128>(a);
  }
}
