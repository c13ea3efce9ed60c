// apo:variant    zoo_matmul/clean_matmul
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Tiles of 128 by 128 a block and 8 by 8 a thread, so that a load serves eight multiply-adds.
// apo:launch     kernel grid=n/128,m/128 block=256
// zoo: expect none
#include "zoo_matmul.args.h"

// The tiles of the next eight columns come while these are multiplied. m % 128 == 0 and n % 128 == 0 in every workload.
extern "C" __global__ void __launch_bounds__(256, 2) kernel(const zoo_matmul_args a) {
  __shared__ float4 left[2][8][32];   // [column][row]
  __shared__ float4 right[2][8][32];  // [row][column]
  const int thread = threadIdx.x;
  const long long n = a.n;
  const long long inner = a.k;
  // A thread brings four neighbours of a row of x, and four of a row of z.
  const float* x = a.x + (128LL * blockIdx.y + thread / 2) * inner + thread % 2 * 4;
  const float* z = a.z + thread / 32 * n + 128LL * blockIdx.x + thread % 32 * 4;
  float4 next_x = *reinterpret_cast<const float4*>(x);
  float4 next_z = *reinterpret_cast<const float4*>(z);
  const auto store = [&](int half) {
    auto* to = reinterpret_cast<float*>(&left[half][thread % 2 * 4][0]) + thread / 2;
    to[0] = next_x.x;
    to[128] = next_x.y;
    to[256] = next_x.z;
    to[384] = next_x.w;
    right[half][thread / 32][thread % 32] = next_z;
  };
  store(0);
  __syncthreads();
  // Rows 4r..4r+3 and 64+4r.., columns likewise: the lanes of a read lie beside each other.
  const int r = thread / 16;
  const int c = thread % 16;
  float sums[8][8] = {};
  for (long long k = 8; k <= inner; k += 8) {
    const int half = static_cast<int>(k / 8 + 1) % 2;
    if (k < inner) {
      next_x = *reinterpret_cast<const float4*>(x + k);
      next_z = *reinterpret_cast<const float4*>(z + k * n);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float4 l0 = left[half][j][r];
      const float4 l1 = left[half][j][16 + r];
      const float4 r0 = right[half][j][c];
      const float4 r1 = right[half][j][16 + c];
      const float u[8] = {l0.x, l0.y, l0.z, l0.w, l1.x, l1.y, l1.z, l1.w};
      const float v[8] = {r0.x, r0.y, r0.z, r0.w, r1.x, r1.y, r1.z, r1.w};
#pragma unroll
      for (int p = 0; p < 8; ++p) {
#pragma unroll
        for (int q = 0; q < 8; ++q) {
          sums[p][q] = fmaf(u[p], v[q], sums[p][q]);
        }
      }
    }
    if (k < inner) {
      store(1 - half);
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 8; ++p) {
    float* y = a.y + (128LL * blockIdx.y + p / 4 * 64 + 4 * r + p % 4) * n + 128LL * blockIdx.x + 4 * c;
    *reinterpret_cast<float4*>(y) = make_float4(sums[p][0], sums[p][1], sums[p][2], sums[p][3]);
    *reinterpret_cast<float4*>(y + 64) = make_float4(sums[p][4], sums[p][5], sums[p][6], sums[p][7]);
  }
}
