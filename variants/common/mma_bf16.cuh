// variants/common/mma_bf16.cuh - products of bf16 tiles in shared memory on the tensor cores, by warps.
//
// A fragment of mma.m16n8k16: with g = lane / 4 and t = lane % 4 a lane has of a 16 x 8 result the elements
// [g][2t], [g][2t + 1], [g + 8][2t] and [g + 8][2t + 1] (PTX ISA, "Matrix Fragments for mma.m16n8k16").
#pragma once
#include <cuda_pipeline_primitives.h>

#include "words.cuh"

namespace {

// Rows of 16 x 8 results side by side become the left operand of a product over their columns.
inline __device__ void as_left(const float (&even)[4], const float (&odd)[4], unsigned (&a)[4]) {
  a[0] = pack(even[0], even[1]);
  a[1] = pack(even[2], even[3]);
  a[2] = pack(odd[0], odd[1]);
  a[3] = pack(odd[2], odd[3]);
}

inline __device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four 8 x 8 matrices of which lane 8 m + r names row r of matrix m.
inline __device__ void load_matrices(unsigned (&to)[4], const bf16* row) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
inline __device__ void load_transposed(unsigned (&to)[4], const bf16* row) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// A matrix in shared memory. 8 elements beside each row keep the rows of a matrix of 8 x 8 in different banks.
template <int kRows, int kColumns>
struct SharedTile {
  bf16 of[kRows][kColumns + 8];

  // 16 x 16 at [row][column] as the left operand.
  __device__ void left(unsigned (&a)[4], int row, int column) const {
    const int lane = threadIdx.x % 32;
    load_matrices(a, &of[row + lane % 16][column + lane / 16 * 8]);
  }
  // The transpose of 16 x 16 at [row][column] as the left operand.
  __device__ void left_transposed(unsigned (&a)[4], int row, int column) const {
    const int lane = threadIdx.x % 32;
    load_transposed(a, &of[row + lane % 8 + lane / 16 * 8][column + lane / 8 % 2 * 8]);
  }
  // The transpose of 16 x 16 at [row][column], two right operands of 16 x 8: the sum runs along the columns.
  __device__ void right_transposed(unsigned (&b)[4], int row, int column) const {
    const int lane = threadIdx.x % 32;
    load_matrices(b, &of[row + lane % 8 + lane / 16 * 8][column + lane / 8 % 2 * 8]);
  }
  // 16 x 16 at [row][column], two right operands of 16 x 8: the sum runs along the rows.
  __device__ void right(unsigned (&b)[4], int row, int column) const {
    const int lane = threadIdx.x % 32;
    load_transposed(b, &of[row + lane % 16][column + lane / 16 * 8]);
  }

  // Starts to copy `rows` rows of `columns` elements, a multiple of 8, by the whole block; zeros beyond them.
  __device__ void start_copy(const bf16* from, long long rows, int columns) {
    constexpr int kPieces = kColumns / 8;
    for (int p = threadIdx.x; p < kRows * kPieces; p += blockDim.x) {
      const int r = p / kPieces, c = p % kPieces * 8;
      if (r < rows && c < columns) {
        __pipeline_memcpy_async(&of[r][c], from + 1LL * r * columns + c, 16);
      } else {
        *reinterpret_cast<uint4*>(&of[r][c]) = make_uint4(0, 0, 0, 0);
      }
    }
  }
};

}  // namespace
