// variants/common/broadcast_flat.cuh - the binary backward on a GPU in one launch: no element of dB has two clusters.
//
// Columns: a cluster of blocks has a strip of all rows, as narrow as gives every cluster one; or, where the variant has
// memory for partial sums, blocks share a strip and the last one adds. Rows: a group of warps has a row. What is neither
// goes the way of broadcast_tiles.cuh, with one slab.
#pragma once
#include "broadcast_tiles.cuh"
#include "clusters.cuh"

namespace {

// What every warp makes for itself, without a barrier: A as `outer` runs of `inner` neighbours, of which B keeps one of
// the two dimensions. Lane d takes the d-th dimension from the innermost one. Products are of 32 bits.
struct Flat {
  unsigned outer, inner;
  bool repeats, inner_is_kept;
  bool holds;  // else B needs a Plan

  template <class Args>
  __device__ explicit Flat(const Args& a) {
    const int d = threadIdx.x % 8;
    const long long extent = (&a.d0)[7 - d];
    const unsigned wide = __ballot_sync(kAll, extent != 1) & 255, kept = static_cast<unsigned>(a.kept);
    const bool is_empty = __any_sync(kAll, extent == 0);
    inner_is_kept = (wide & (0 - wide) & kept) != 0;
    const unsigned like_inner = inner_is_kept ? kept : ~kept, others = wide & ~like_inner;
    const unsigned of_inner = others == 0 ? 255 : (others & (0 - others)) - 1;
    const bool is_inner = (of_inner >> d & 1) != 0;
    inner = is_inner ? static_cast<unsigned>(extent) : 1;
    outer = is_inner ? 1 : static_cast<unsigned>(extent);
#pragma unroll
    for (int step = 4; step > 0; step /= 2) {
      inner *= __shfl_xor_sync(kAll, inner, step);
      outer *= __shfl_xor_sync(kAll, outer, step);
    }
    repeats = (wide & ~kept) != 0;
    holds = !is_empty && (wide & ~of_inner & like_inner) == 0;
  }
};

// `count` vectors of A, `step` apart, kUnroll at a time: dA, and the sums of what goes to dB by places in a vector.
template <int kVector, int kUnroll, class Args>
__device__ void take_vectors(const Args& a, unsigned first, unsigned step, unsigned count,
                             const OfB<kVector, Args>& right, float (&sum)[kVector]) {
  unsigned at = first;
  for (unsigned n = 0; n < count; n += kUnroll, at += kUnroll * step) {
    Vectors<kVector, kUnroll, Args> vectors;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (n + u < count) {
        vectors.read(a, u, at + u * step);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (n + u < count) {
        vectors.add(a, u, right, at + u * step, sum);
      }
    }
  }
}

// The sums of a strip's columns over all threads of the block: lanes first, then what shares a place in a warp. Thread
// c gets that of column c and gives it to `put_total`.
template <int kVector, class Put>
__device__ void sum_strip(int shift, float (&sum)[kVector], float* sums, Put put_total) {
  const int width = kVector << shift, x = threadIdx.x & ((1 << shift) - 1);
  for (int step = 16; step >> shift != 0; step /= 2) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      sum[v] += __shfl_xor_sync(kAll, sum[v], step);
    }
  }
  const int apart = shift < 5 ? 5 : shift;  // 2^apart threads have one sum of a column
  if ((threadIdx.x & ((1 << apart) - 1)) >> shift == 0) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      sums[(threadIdx.x >> apart) * width + x * kVector + v] = sum[v];
    }
  }
  __syncthreads();
  for (int c = threadIdx.x; c < width; c += kTileThreads) {
    float total = 0;
    for (int group = 0; group < kTileThreads >> apart; ++group) {
      total += sums[group * width + c];
    }
    put_total(c, total);
  }
  __syncthreads();
}

// The sums of a strip over the blocks of its cluster.
template <int kVector, int kCluster, class Args>
__device__ void put_strip(const Args& a, Cluster<kCluster> cluster, int shift, unsigned first, unsigned inner,
                          float (&sum)[kVector], float* sums) {
  sum_strip(shift, sum, sums, [&](int c, float total) {
    if constexpr (kCluster > 1) {
      sums[c] = total;
    } else if (first + c < inner) {
      put(total, a.dB + first + c);
    }
  });
  if constexpr (kCluster > 1) {
    cluster.meet();
    const int width = kVector << shift;
    for (int c = kTileThreads * cluster.rank + threadIdx.x; c < width && first + c < inner;
         c += kTileThreads * kCluster) {
      put(cluster.sum(sums + c), a.dB + first + c);
    }
    cluster.meet();
  }
}

// inner % kVector == 0
template <int kVector, int kUnroll, int kCluster, class Args>
__device__ void strips(const Args& a, const Flat& flat, float* sums) {
  const Cluster<kCluster> cluster;
  const unsigned rows = flat.outer, inner = flat.inner, vectors = inner / kVector;
  int shift = __clz(cluster.count) - __clz(vectors - 1);  // a strip has 2^shift vectors, 32 bytes or more
  shift = shift < 1 ? 1 : shift;
  shift += cluster.count << shift < vectors;
  shift = shift > kTileShift ? kTileShift : shift;
  const unsigned x = threadIdx.x & ((1u << shift) - 1), at_once = kTileThreads >> shift, apart = at_once * kCluster;
  const unsigned y = (threadIdx.x >> shift) + at_once * cluster.rank;
  for (unsigned strip = cluster.index; strip << shift < vectors; strip += cluster.count) {
    const unsigned first = (strip << shift) * kVector, column = first + x * kVector;
    const bool is_there = column < inner && y < rows;
    OfB<kVector, Args> right = {};
    float sum[kVector] = {};
    if (is_there && reads_b(a)) {
      right = load_pack<kVector>(a.B + column);
    }
    take_vectors<kVector, kUnroll>(a, y * inner + column, apart * inner,
                                   is_there ? (rows - y + apart - 1) / kCluster >> (kTileShift - shift) : 0, right,
                                   sum);
    if (a.need_dB) {
      put_strip(a, cluster, shift, first, inner, sum, sums);
    }
  }
}

constexpr unsigned kMostShared = 2048;         // strips
__device__ unsigned blocks_done[kMostShared];  // of a strip; 0 between calls

// A strip is a warp's width, and as many blocks as there are for each have every so many rows of it. The last of them
// that has its sums adds those of all, in the order of the blocks. inner % kVector == 0
template <int kVector, int kUnroll, class Args>
__device__ void shared_strips(const Args& a, const Flat& flat, float* sums) {
  __shared__ bool is_last;
  const unsigned rows = flat.outer, inner = flat.inner, vectors = inner / kVector;
  const int shift = vectors >= 32 ? 5 : 32 - __clz(vectors);
  const unsigned strips = (vectors + (1u << shift) - 1) >> shift, at_once = kTileThreads >> shift;
  const unsigned most = strips > kMostShared ? 1 : gridDim.x / strips, wanted = rows / (at_once * kUnroll);
  const unsigned slabs = wanted < most ? (wanted < 1 ? 1 : wanted) : most < 1 ? 1 : most;
  const unsigned x = threadIdx.x & ((1u << shift) - 1), apart = at_once * slabs;
  const int width = kVector << shift;
  for (unsigned task = blockIdx.x; task < strips * slabs; task += gridDim.x) {
    const unsigned slab = task / strips, strip = task - slab * strips, first = (strip << shift) * kVector;
    const unsigned column = first + x * kVector, y = (threadIdx.x >> shift) + at_once * slab;
    const bool is_there = column < inner && y < rows;
    OfB<kVector, Args> right = {};
    float sum[kVector] = {};
    if (is_there && reads_b(a)) {
      right = load_pack<kVector>(a.B + column);
    }
    take_vectors<kVector, kUnroll>(a, y * inner + column, apart * inner, is_there ? (rows - y + apart - 1) / apart : 0,
                                   right, sum);
    if (!a.need_dB) {
      continue;
    }
    float* parts = static_cast<float*>(a.partials) + strip * slabs * width;
    sum_strip(shift, sum, sums, [&](int c, float total) {
      if (slabs > 1) {
        parts[slab * width + c] = total;
      } else if (first + c < inner) {
        put(total, a.dB + first + c);
      }
    });
    if (slabs > 1) {
      if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(&blocks_done[strip], slabs - 1) == slabs - 1;
        __threadfence();
      }
      __syncthreads();
      for (int c = threadIdx.x; is_last && c < width && first + c < inner; c += kTileThreads) {
        float total = 0;
#pragma unroll(kVector == 8 ? 24 : 8)  // by default a strip has 24 slabs, or 16
        for (unsigned part = 0; part < slabs; ++part) {
          total += __ldcg(parts + part * width + c);
        }
        put(total, a.dB + first + c);
      }
      __syncthreads();
    }
  }
}

// A row, which shares one element of B, has one warp, or as many as there are for each. inner % kVector == 0
template <int kVector, int kUnroll, class Args>
__device__ void whole_rows(const Args& a, const Flat& flat, float* sums) {
  const unsigned rows = flat.outer, warps = gridDim.x * kTileWarps, vectors = flat.inner / kVector;
  int shift = __clz(rows) - __clz(warps);  // a row has 2^shift warps
  shift -= shift > 0 && rows << shift > warps;
  shift = shift < 0 ? 0 : shift > kTileShift - 5 ? kTileShift - 5 : shift;
  const unsigned warp = threadIdx.x / 32, threads = 32u << shift, own = threadIdx.x & (threads - 1);
  const unsigned count = own < vectors ? (vectors - own + threads - 1) >> (5 + shift) : 0,
                 at_once = kTileWarps >> shift;
  const Split split = {.across = 1 << shift};
  for (unsigned first = at_once * blockIdx.x; first < rows; first += at_once * gridDim.x) {
    const unsigned row = first + (warp >> shift);
    float total = 0;
    if (row < rows) {
      float sum[kVector] = {};
      const auto right = repeated_pack<OfB<kVector, Args>>(reads_b(a) ? load(a.B[row]) : 0);
      take_vectors<kVector, kUnroll>(a, row * flat.inner + own * kVector, threads * kVector, count, right, sum);
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        total += sum[v];
      }
      total = sum_of_lanes(total);
    }
    if (a.need_dB && shift > 0) {
      total = sum_of_warps(split, total, sums + warp);
    }
    if (a.need_dB && row < rows && own == 0) {
      put(total, a.dB + row);
    }
  }
}

// The first element of B that the vector at `at` of A uses.
template <class Args>
__device__ unsigned offset_in_b(const Args& a, unsigned at) {
  const long long* extents = &a.d0;
  unsigned offset = 0, stride = 1;
#pragma unroll 1
  for (int d = 7; d >= 0 && at > 0; --d) {
    const auto extent = static_cast<unsigned>(extents[d]);
    const unsigned outer = extent == 1 ? at : at / extent;
    if (a.kept >> (7 - d) & 1) {
      offset += (at - outer * extent) * stride;
      stride *= extent;
    }
    at = outer;
  }
  return offset;
}

// Without dB nothing is added, so that each vector is for itself, whatever B repeats along. `given` is what `a` was made
// of: extents are read one by one there. inner % kVector == 0
template <int kVector, int kUnroll, class Args, class Given>
__device__ void separate_vectors(const Args& a, const Given& given, const Flat& flat) {
  const auto count = static_cast<unsigned>(a.d0 * a.d1 * a.d2 * a.d3 * a.d4 * a.d5 * a.d6 * a.d7);
  const unsigned step = kTileThreads * gridDim.x * kVector;
  for (unsigned at = (kTileThreads * blockIdx.x + threadIdx.x) * kVector; at < count; at += kUnroll * step) {
    Vectors<kVector, kUnroll, Args> vectors;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (at + u * step < count) {
        vectors.read(a, u, at + u * step);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (at + u * step < count) {
        float unused[kVector] = {};
        OfB<kVector, Args> right = {};
        if (reads_b(a)) {
          const auto* from = a.B + offset_in_b(given, at + u * step);
          right = flat.inner_is_kept ? load_pack<kVector>(from) : repeated_pack<OfB<kVector, Args>>(load(*from));
        }
        vectors.add(a, u, right, at + u * step, unused);
      }
    }
  }
}

template <int kVector, int kUnroll, int kCluster, class Args>
__device__ void flat_gradients(const Args& a, const Flat& flat, float* sums) {
  if (!flat.repeats) {
    const unsigned count = flat.outer * flat.inner, whole = count / kVector * kVector;
    equal_vectors<kVector, kUnroll>(a, 0, whole);
    equal_vectors<1, 1>(a, whole, count);
  } else if (flat.inner_is_kept) {
    if constexpr (requires { a.partials; }) {
      shared_strips<kVector, kUnroll>(a, flat, sums);
    } else {
      strips<kVector, kUnroll, kCluster>(a, flat, sums);
    }
  } else {
    whole_rows<kVector, kUnroll>(a, flat, sums);
  }
}

// Any pattern, with one slab wherever there are sums. A call of its own: its registers are not the others'.
template <int kVector, bool kStreamed, class Args>
__device__ __noinline__ void planned_in_one(const Args& a, float* sums) {
  __shared__ Plan plan;
  __shared__ Split split;
  if (threadIdx.x == 0) {
    plan.make(a);
    make_split<kVector, 1>(plan, split);
    if (a.need_dB) {
      split.one_slab(plan.repeated.count * plan.inner / kVector);
    }
  }
  __syncthreads();
  planned_gradients<kVector, 1>(Known<Args, Op::any, kStreamed>(a), plan, split, sums);
}

// kVector elements of A are 16 bytes.
template <int kVector, int kUnroll, bool kStreamed, int kCluster = 1, class Args>
__device__ void one_launch_gradients(const Args& a) {
  __shared__ float sums[kTileThreads * kVector];
  const Flat flat(a);
  const bool fits = flat.holds && (!flat.repeats || flat.inner % kVector == 0);
  if constexpr (kIsPower<Args>) {
    if (fits) {
      return flat_gradients<kVector, kUnroll, kCluster>(Known<Args, Op::any, kStreamed>(a), flat, sums);
    }
  } else if (fits && a.op == 2) {
    return flat_gradients<kVector, kUnroll, kCluster>(Known<Args, Op::product, kStreamed>(a), flat, sums);
  } else if (fits && a.op < 2) {
    return flat_gradients<kVector, kUnroll, kCluster>(Known<Args, Op::linear, kStreamed>(a), flat, sums);
  } else if (!a.need_dB && a.op <= 2 && flat.inner % kVector == 0) {
    return separate_vectors<kVector, kUnroll>(Known<Args, Op::linear, kStreamed>(a), a, flat);
  }
  planned_in_one<kVector, kStreamed>(a, sums);
}

}  // namespace
