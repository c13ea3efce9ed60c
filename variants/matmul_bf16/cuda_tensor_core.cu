// apo:variant    matmul_bf16/cuda_tensor_core
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:parent     matmul_bf16/cuda_simple
// apo:idea       A warp owns 32 x 32 elements of the result as four accumulators of the tensor cores.
// apo:predict    4x..30x over parent: an instruction multiplies 16 x 16 x 16 instead of one pair.
// apo:requires   M % 32 == 0 && N % 32 == 0 && K % 16 == 0
// apo:launch     multiply grid=N/32,M/32 block=32
#include <mma.h>

#include "matmul_bf16.args.h"

namespace wmma = nvcuda::wmma;

extern "C" __global__ void multiply(const matmul_bf16_args a) {
  const __nv_bfloat16* rows = a.a + 32LL * blockIdx.y * a.K;
  const __nv_bfloat16* columns = a.b + 32LL * blockIdx.x * a.K;
  const unsigned stride = static_cast<unsigned>(a.K);
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (auto& row : sums) {
    for (auto& sum : row) {
      wmma::fill_fragment(sum, 0.0f);
    }
  }
  for (long long k = 0; k < a.K; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(left[i], rows + 16 * i * a.K + k, stride);
      wmma::load_matrix_sync(right[i], columns + 16 * i * a.K + k, stride);
    }
    for (int m = 0; m < 2; ++m) {
      for (int n = 0; n < 2; ++n) {
        wmma::mma_sync(sums[m][n], left[m], right[n], sums[m][n]);
      }
    }
  }
  float* c = a.c + 32LL * blockIdx.y * a.N + 32LL * blockIdx.x;
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      wmma::store_matrix_sync(c + 16 * m * a.N + 16 * n, sums[m][n], static_cast<unsigned>(a.N), wmma::mem_row_major);
    }
  }
}
