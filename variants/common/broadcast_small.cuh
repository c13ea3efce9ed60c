// variants/common/broadcast_small.cuh - the binary backward of a small call on a GPU, in as few instructions as it
// takes.
//
// A launch finds no instruction in the caches of a multiprocessor: every hundred that a warp comes to for the first
// time cost about a third of a microsecond, as much as all the bytes of a small call. So there is one way with dB and
// one without, for sums, differences and products alone; the rest is for other variants.
#pragma once
#include "broadcast_tiles.cuh"

namespace {

// A as `rows` of `columns`: the dimensions that B repeats along, and those that it keeps.
struct Matrix {
  unsigned rows = 1, columns = 1;

  template <class Args>
  __device__ explicit Matrix(const Args& a) {
    const auto kept = static_cast<unsigned>(a.kept);
#pragma unroll
    for (int d = 0; d < 8; ++d) {
      const auto extent = static_cast<unsigned>((&a.d0)[d]);
      const bool keeps = (kept >> (7 - d) & 1) != 0;
      rows *= keeps ? 1 : extent;
      columns *= keeps ? extent : 1;
    }
  }
};

// index / extent, exactly: index < 2^20, so that an error of two units in the last place is below a quarter of
// 1 / extent, and half of it is added.
inline __device__ unsigned small_quotient(unsigned index, unsigned extent) {
  return static_cast<unsigned>(__fdividef(index + 0.5F, extent));
}

// Where the entry `index` of the dimensions of `mask`, a bit each as in `kept`, is in A, whose other indices are 0.
template <class Args>
__device__ unsigned offset_in_a(const Args& a, unsigned mask, unsigned index) {
  const long long* extents = &a.d0;
  unsigned offset = 0, stride = 1;
#pragma unroll 1
  for (int d = 7; d >= 0 && index > 0; --d, mask >>= 1) {
    const auto extent = static_cast<unsigned>(extents[d]);
    if (mask & 1) {
      const unsigned outer = small_quotient(index, extent);
      offset += (index - outer * extent) * stride;
      index = outer;
    }
    stride *= extent;
  }
  return offset;
}

// The sums of a strip over the threads of a block, by thread c that of column c. Of two lanes that share columns each
// keeps the sums of half of them.
template <int kVector, class Put>
__device__ void sum_small_strip(int shift, float (&sum)[kVector], float* sums, Put put_total) {
  int own = 0, left = kVector;
#pragma unroll
  for (int bit = 16; bit >= 2; bit /= 2) {
    if (bit >> shift == 0) {
      break;
    }
    const int half = bit * kVector / 32;
    if (half > 0) {
      const bool upper = (threadIdx.x & bit) != 0;
#pragma unroll
      for (int v = 0; v < half; ++v) {
        const float kept = upper ? sum[v + half] : sum[v], given = upper ? sum[v] : sum[v + half];
        sum[v] = kept + __shfl_xor_sync(kAll, given, bit);
      }
      own += upper ? half : 0;
      left = half;
    } else {
      sum[0] += __shfl_xor_sync(kAll, sum[0], bit);
    }
  }
  const int apart = shift < 5 ? 5 : shift, width = kVector << shift;  // 2^apart threads have one sum of a column
  float* to = sums + (threadIdx.x >> apart) * width + (threadIdx.x & ((1 << shift) - 1)) * kVector + own;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    if (v < left) {
      to[v] = sum[v];
    }
  }
  __syncthreads();
  const int c = threadIdx.x;
  if (c < width) {
    float total = 0;
#pragma unroll 4
    for (int group = 0; group < kTileThreads >> apart; ++group) {
      total += sums[group * width + c];
    }
    put_total(c, total);
  }
  __syncthreads();
}

// A strip has 2^shift vectors, 64 bytes or more, so that there is one for each block, and as many columns as threads at
// most.
template <int kVector>
__device__ int shift_of_strip(unsigned vectors) {
  constexpr int kMost = kVector == 8 ? kTileShift - 3 : kTileShift - 2;
  int shift = __clz(gridDim.x) - __clz(vectors - 1);
  shift += gridDim.x << shift < vectors;
  return shift < 2 ? 2 : shift > kMost ? kMost : shift;
}

// Products, or sums and differences, whose gradients are g itself. A block has strips of 2^kShift vectors; 0: as many
// as shift_of_strip() says, which takes more instructions.
template <int kVector, int kShift, bool kProduct, class Args>
__device__ void small_strips(const Args& a, const Matrix& of, float* sums) {
  const unsigned vectors = of.columns / kVector;
  const int shift = kShift > 0 ? kShift : shift_of_strip<kVector>(vectors);
  const unsigned x = threadIdx.x & ((1u << shift) - 1), y = threadIdx.x >> shift;
  const auto kept = static_cast<unsigned>(a.kept);
  const bool are_last = (kept & (kept + 1)) == 0;  // the kept dimensions
  for (unsigned strip = blockIdx.x; strip << shift < vectors; strip += gridDim.x) {
    const unsigned first = (strip << shift) * kVector, column = first + x * kVector;
    const bool is_there = column < of.columns;
    const unsigned of_column = are_last ? column : offset_in_a(a, kept, column);
    OfB<kVector, Args> right = {};
    float sum[kVector] = {};
    if (kProduct && is_there) {
      right = load_pack<kVector>(a.B + column);
    }
#pragma unroll 1
    for (unsigned row = y; is_there && row < of.rows; row += kTileThreads >> shift) {
      const unsigned at = of_column + (are_last ? row * of.columns : offset_in_a(a, ~kept, row));
      const auto g = load_pack<kVector>(a.g + at);
      float of_g[kVector], of_left[kVector];
      if (kProduct) {
        unpack(load_pack<kVector>(a.A + at), of_left);
      }
      unpack(g, of_g);
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        sum[v] = kProduct ? fmaf(of_g[v], of_left[v], sum[v]) : sum[v] + of_g[v];
      }
      store_pack(kProduct ? product(g, right) : g, a.dA + at);
    }
    sum_small_strip(shift, sum, sums, [&](int c, float total) {
      if (first + c < of.columns) {
        put(!kProduct && a.op == 1 ? -total : total, a.dB + first + c);
      }
    });
  }
}

// The first element of B that the vector at `at` of A uses.
template <class Args>
__device__ unsigned small_offset_in_b(const Args& a, unsigned at) {
  const long long* extents = &a.d0;
  unsigned offset = 0, stride = 1;
#pragma unroll 1
  for (int d = 7; d >= 0 && at > 0; --d) {
    const auto extent = static_cast<unsigned>(extents[d]);
    const unsigned outer = small_quotient(at, extent);
    if (a.kept >> (7 - d) & 1) {
      offset += (at - outer * extent) * stride;
      stride *= extent;
    }
    at = outer;
  }
  return offset;
}

// kVector elements are 16 bytes and divide d7. dB is wanted only where B keeps d7; op is 0 to 2, and dA is wanted. All
// tensors have one type.
template <int kVector, int kShift, class Args>
__device__ void small_gradients(const Args& a) {
  __shared__ float sums[kTileThreads * kVector];
  const Matrix of(a);
  if (a.need_dB) {
    return a.op == 2 ? small_strips<kVector, kShift, true>(a, of, sums)
                     : small_strips<kVector, kShift, false>(a, of, sums);
  }
  // Warps in turn go to blocks in turn, so that all multiprocessors have some.
  const unsigned count = of.rows * of.columns, first = threadIdx.x / 32 * gridDim.x + blockIdx.x;
#pragma unroll 1
  for (unsigned at = (first * 32 + threadIdx.x % 32) * kVector; at < count; at += kTileThreads * gridDim.x * kVector) {
    auto g = load_pack<kVector>(a.g + at);
    if (a.op == 2) {
      const auto* from = a.B + small_offset_in_b(a, at);
      g = product(g, a.kept % 2 ? load_pack<kVector>(from) : repeated_pack<OfB<kVector, Args>>(load(*from)));
    }
    store_pack(g, a.dA + at);
  }
}

}  // namespace
