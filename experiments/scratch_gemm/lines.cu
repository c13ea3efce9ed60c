// apo:variant    matmul_bf16/cuda_wgmma
// apo:target     cuda sm_90a
// apo:technique  wgmma
// apo:technique  bulk-copies
// apo:technique  persistent-grid
// apo:parent     matmul_bf16/cuda_tensor_core
// apo:idea       wgmma on tiles of 128 x 256, whose operands a warpgroup of their own copies, once for both blocks of a cluster.
// apo:predict    6x..40x over parent: 550 to 800 TFLOP/s, where a warp that loads its own fragments waits for each of them.
// apo:tune       STAGES 4,3
// apo:tune       DOWN 2,1
// apo:tune       AHEAD 2,0,1
// apo:tune       GROUP 8,4,16
// apo:scratch    maps 256*SMS+128
// apo:requires   K % 8 == 0 && N % 4 == 0
// apo:requires   AHEAD < STAGES
// apo:launch     multiply grid=DOWN*ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256),ceil_div(ceil_div(M,128*DOWN)*ceil_div(N,256),SMS/DOWN)) cluster=DOWN block=384 shared=1024*ceil_div(49168*STAGES+256,1024)
#include "lines.cuh"

extern "C" __global__ __launch_bounds__(384, 1) void multiply(const matmul_bf16_args a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  // The block's own maps in the scratch buffer, at multiples of 128 bytes.
  const auto first = (reinterpret_cast<unsigned long long>(a.maps) + kTensorMapBytes - 1) / kTensorMapBytes;
  char* const maps = reinterpret_cast<char*>((first + 2 * blockIdx.x) * kTensorMapBytes);
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    make_tensor_map(maps, shared.maps[0], {a.a, 1, a.M, a.K}, kRows);
  } else if (warp == 1) {
    make_tensor_map(maps + kTensorMapBytes, shared.maps[1], {a.b, 1, a.N, a.K}, kRowsOfB);
  } else if (threadIdx.x == 64) {
    init_barriers(shared);
  }
  __syncthreads();
  multiply_all<true>(a, maps, maps + kTensorMapBytes, shared);
}
