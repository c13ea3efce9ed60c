// apo:variant    rms_norm/cuda_block_row
// apo:target     cuda sm_80
// apo:technique  coalesced
// apo:technique  parallel-reduction
// apo:parent     rms_norm/cuda_simple
// apo:idea       A block owns a row: neighbouring threads read neighbouring elements, and the warps' sums meet in shared memory.
// apo:predict    5x..60x over parent: a thread that walks a row uses 2 of the 32 bytes of every sector it reads.
// apo:tune       THREADS 256,128,512
// apo:launch     normalise_rows grid=rows block=THREADS
#include "rms_norm.args.h"

extern "C" __global__ void normalise_rows(const rms_norm_args a) {
  __shared__ float of_warp[THREADS / 32];
  const __nv_bfloat16* x = a.x + blockIdx.x * a.cols;
  __nv_bfloat16* y = a.y + blockIdx.x * a.cols;
  float squares = 0;
  for (long long c = threadIdx.x; c < a.cols; c += THREADS) {
    squares += __bfloat162float(x[c]) * __bfloat162float(x[c]);
  }
  for (int step = 16; step > 0; step /= 2) {
    squares += __shfl_xor_sync(0xffffffffu, squares, step);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = squares;
  }
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < THREADS / 32; ++warp) {
    sum += of_warp[warp];
  }
  const float scale = rsqrtf(sum / static_cast<float>(a.cols) + a.eps);
  for (long long c = threadIdx.x; c < a.cols; c += THREADS) {
    y[c] = __float2bfloat16(__bfloat162float(x[c]) * scale * __bfloat162float(a.weight[c]));
  }
}
