// apo:variant    e88_backward/cuda_tensor_core
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  reduce-scatter
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:technique  multi-head
// apo:parent     cuda_lane_tiling
// apo:idea       The sums over rows (retrieval and d_delta) are tf32 matrix products with the vector in all columns, whose results land in the lanes that need them.
// apo:predict    1.0x..1.25x over parent: 8 products replace 48 instructions in each of 2.5 sums a step, some 100 of 720 issue slots.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20512 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20512
#include "e88_backward.args.h"
#include "lane_tiles.cuh"

namespace {

// Lane (g, c), g = lane % 4 and c = lane / 4, owns rows 8g..8g+7 and columns 4c..4c+3.
struct Place {
  int lane, group, column;
  __device__ explicit Place(int thread) : lane(thread % 32), group(lane % 4), column(lane / 4) {}
  __device__ int first_column() const { return 4 * column; }
  __device__ int summed_row() const { return 8 * group + column; }
  __device__ int row(int r) const { return 8 * group + r; }
};

// d += a b by mma.m16n8k8
__device__ void multiply(const float (&a)[4], const float (&b)[2], float (&d)[4]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

// The part of x that a tf32 operand keeps: 11 bits of significand. The rest is exact in fp32 and again fits.
__device__ float upper_part(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

// sum_i S[i][j] x[i] of the lane's columns, in all four lanes that share them: in the second factor the upper parts of
// x stand in the even columns and the rest in the odd ones, so that each lane gets both sums of its own columns. Rows
// 2t and 2t+1 of the lanes are the inner dimension of product t. One tf32 product is outside the tolerance, so S is cut
// in two.
__device__ void column_sums(const Place&, const Tile& S, const float (&x)[8], float (&sums)[4]) {
  const bool odd = threadIdx.x & 4;
  float factor[8];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const float upper = upper_part(x[r]);
    factor[r] = odd ? x[r] - upper : upper;
  }
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    float d[2][4] = {};
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const float a[4] = {S[2 * t][2 * m], S[2 * t][2 * m + 1], S[2 * t + 1][2 * m], S[2 * t + 1][2 * m + 1]};
      const float upper[4] = {upper_part(a[0]), upper_part(a[1]), upper_part(a[2]), upper_part(a[3])};
      const float rest[4] = {a[0] - upper[0], a[1] - upper[1], a[2] - upper[2], a[3] - upper[3]};
      const float b[2] = {factor[2 * t], factor[2 * t + 1]};
      multiply(upper, b, d[0]);
      multiply(rest, b, d[1]);
    }
    sums[2 * m] = (d[0][0] + d[0][1]) + (d[1][0] + d[1][1]);
    sums[2 * m + 1] = (d[0][2] + d[0][3]) + (d[1][2] + d[1][3]);
  }
}

// Sums x[r] over the eight lanes that share the rows; the lane gets the sum of row 8 * group + column.
__device__ float scatter_rows(const Place& p, float (&x)[8]) {
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const bool upper = p.lane & 16;
    x[r] = (upper ? x[r + 4] : x[r]) + __shfl_xor_sync(kAll, upper ? x[r] : x[r + 4], 16);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool upper = p.lane & 8;
    x[r] = (upper ? x[r + 2] : x[r]) + __shfl_xor_sync(kAll, upper ? x[r] : x[r + 2], 8);
  }
  const bool upper = p.lane & 4;
  return (upper ? x[1] : x[0]) + __shfl_xor_sync(kAll, upper ? x[0] : x[1], 4);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_by_tiles<Place>(a, reinterpret_cast<TileWork*>(shared)[threadIdx.x / 32]);
}
