// variants/common/broadcast_tiles.cuh - the binary backward on a GPU, a pattern of B at a time, in vectors of 16 bytes.
//
// With all dimensions compressed, B repeats nowhere (equal), or keeps the innermost one (columns), or repeats along it
// (rows). Columns: a block owns a tile of dB and a slab of what is summed, with its sums in registers. Rows: a group of
// warps owns an element of dB and a slab. What more than one slab sums meets in `partials`, in a fixed order.
#pragma once
#include "broadcast.cuh"

namespace {

constexpr int kTileThreads = 256;
constexpr int kTileWarps = kTileThreads / 32;

template <class T, int kCount>
struct alignas(sizeof(T) * kCount <= 16 ? sizeof(T) * kCount : 16) Pack {
  T of[kCount];
};

// The arguments, and what the compiler knows of a loop: whether the derivatives are linear in the other operand (add,
// sub, mul), and whether the large tensors, read and written once, leave no lines in the caches.
template <class Given, bool kIsLinear, bool kIsStreamed>
struct Known : Given {
  static constexpr bool kLinear = kIsLinear, kStreamed = kIsStreamed;
  __device__ explicit Known(const Given& a) : Given(a) {}
};

template <int kCount, bool kStream = false, class T>
__device__ Pack<T, kCount> load_pack(const T* from) {
  Pack<T, kCount> pack;
  if constexpr (kStream && sizeof pack == 16) {
    const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(from));
    memcpy(&pack, &bits, sizeof pack);
  } else {
    pack = *reinterpret_cast<const Pack<T, kCount>*>(from);
  }
  return pack;
}

template <int kCount, class T>
__device__ void unpack(const Pack<T, kCount>& pack, float (&to)[kCount]) {
#pragma unroll
  for (int v = 0; v < kCount; ++v) {
    to[v] = load(pack.of[v]);
  }
}

template <bool kStream = false, int kCount, class T>
__device__ void store_pack(const float (&from)[kCount], T* to) {
  Pack<T, kCount> pack;
#pragma unroll
  for (int v = 0; v < kCount; ++v) {
    put(from[v], &pack.of[v]);
  }
  if constexpr (kStream && sizeof pack == 16) {
    uint4 bits;
    memcpy(&bits, &pack, sizeof pack);
    __stcs(reinterpret_cast<uint4*>(to), bits);
  } else {
    *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
  }
}

// Compressed dimensions in two lists, those that B keeps and those that it repeats along, without the innermost one.
struct Outer {
  int rank;
  long long extent[4], stride[4], count;

  __device__ void clear() {
    rank = 0;
    count = 1;
  }
  __device__ void add(long long of, long long apart) {
    extent[rank] = of;
    stride[rank++] = apart;
    count *= of;
  }
  // Of the entry `index` of these dimensions, the last one first.
  __device__ long long offset(long long index) const {
    if (rank <= 1) {
      return rank == 0 ? 0 : index * stride[0];
    }
    return count >> 31 == 0 ? offset_in<unsigned>(index) : offset_in<unsigned long long>(index);
  }
  template <class Index>
  __device__ long long offset_in(long long index) const {
    long long sum = 0;
    auto rest = static_cast<Index>(index);
    for (int d = 0; d + 1 < rank; ++d) {
      const Index outer = rest / static_cast<Index>(extent[d]);
      sum += (rest - outer * static_cast<Index>(extent[d])) * stride[d];
      rest = outer;
    }
    return sum + rest * stride[rank - 1];
  }
};

struct Plan {
  long long elements, b_elements, inner;
  Outer kept, repeated;
  bool repeats, inner_is_kept;

  // The dimensions of 1 left out, and neighbours that B keeps, or repeats along, merged. One small loop from the
  // innermost dimension outwards: it runs once, cold, and takes what its instructions take to arrive.
  template <class Args>
  __device__ void make(const Args& a) {
    const long long* extents = &a.d0;
    kept.clear();
    repeated.clear();
    elements = b_elements = inner = 1;
    inner_is_kept = true;
    long long stride = 1, extent = 1;  // of what is being merged
    bool is_kept = true, is_inner = true;
#pragma unroll 1
    for (int d = 7; d >= -1; --d) {
      const long long count = d < 0 ? 1 : extents[d];
      const bool keeps = a.kept >> (7 - d) & 1;
      if (d >= 0 && count == 1) {
        continue;
      }
      if (d >= 0 && (extent == 1 || keeps == is_kept)) {
        extent *= count;
        is_kept = keeps;
      } else {
        if (is_inner) {
          inner = extent;
          inner_is_kept = is_kept;
        } else {
          (is_kept ? kept : repeated).add(extent, stride);
        }
        is_inner = false;
        stride = elements;
        extent = count;
        is_kept = keeps;
      }
      elements *= count;
      b_elements *= keeps ? count : 1;
    }
    repeats = elements != b_elements || elements == 0;
  }
};

// How the sums of dB are split: `tasks` = tiles of dB times slabs of what is added.
struct Split {
  long long slabs = 1, tiles = 1;
  int across = 1;  // columns: threads, rows: warps of a block that share an element or a row

  // As many slabs as the workers have tasks for, and none without `least` terms.
  __device__ void of(long long all_tiles, long long workers, long long terms, long long least) {
    tiles = all_tiles;
    const long long most = terms / least > 1 ? terms / least : 1;
    const long long wanted = workers / (tiles > 1 ? tiles : 1);
    slabs = wanted < 1 ? 1 : wanted > most ? most : wanted;
  }
};

template <int kVector>
__device__ Split split_columns(const Plan& plan, int blocks) {
  Split split;
  const long long vectors = (plan.inner + kVector - 1) / kVector;
  while (split.across < kTileThreads && split.across < vectors) {
    split.across *= 2;
  }
  const long long tiles = plan.kept.count * ((vectors + split.across - 1) / split.across);
  split.of(tiles, blocks, plan.repeated.count, kTileThreads / split.across);
  return split;
}

inline __device__ Split split_rows(const Plan& plan, int blocks) {
  Split split;
  while (split.across < kTileWarps && plan.kept.count * split.across < kTileWarps * static_cast<long long>(blocks)) {
    split.across *= 2;
  }
  const long long terms = plan.repeated.count * plan.inner;
  split.of(plan.kept.count, blocks * static_cast<long long>(kTileWarps / split.across), terms, 1024 * split.across);
  return split;
}

// Vectors of g and A that are under way together, in their own type until they are used: registers are what limits how
// many a multiprocessor has under way.
template <int kVector, int kUnroll, class Args>
struct Vectors {
  decltype(load_pack<kVector>(static_cast<Args*>(nullptr)->g)) g[kUnroll];
  decltype(load_pack<kVector>(static_cast<Args*>(nullptr)->A)) left[kUnroll];

  __device__ void read(const Args& a, int u, long long at) {
    g[u] = load_pack<kVector, Args::kStreamed>(a.g + at);
    if (reads_a(a)) {
      left[u] = load_pack<kVector, Args::kStreamed>(a.A + at);
    }
  }

  // dA of a vector, and what goes to dB of each element. What is not read counts as 0.
  __device__ void gradients(const Args& a, int u, const float (&right)[kVector], long long at,
                            float (&terms)[kVector]) const {
    float of_a[kVector], of_g[kVector], x[kVector] = {};
    unpack(g[u], of_g);
    if (reads_a(a)) {
      unpack(left[u], x);
    }
    const float factor = a.op == 2 ? 1 : 0, constant = 1 - factor, signed_constant = a.op == 1 ? -1 : constant;
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      of_a[v] = of_g[v] * (Args::kLinear ? factor * right[v] + constant : gradient_of_a(a.op, x[v], right[v]));
      terms[v] = of_g[v] * (Args::kLinear ? factor * x[v] + signed_constant : gradient_of_b(a.op, x[v], right[v]));
    }
    if (a.need_dA) {
      store_pack<Args::kStreamed>(of_a, a.dA + at);
    }
  }
};

template <int kVector, int kUnroll, class Args>
__device__ void equal_vectors(const Args& a, long long first, long long end) {
  const long long step = 1LL * kTileThreads * gridDim.x * kVector;
  for (long long i = first + (1LL * kTileThreads * blockIdx.x + threadIdx.x) * kVector; i < end; i += kUnroll * step) {
    Vectors<kVector, kUnroll, Args> vectors;
    decltype(load_pack<kVector>(a.B)) right[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * step < end) {
        vectors.read(a, u, i + u * step);
        if (reads_b(a)) {
          right[u] = load_pack<kVector, Args::kStreamed>(a.B + i + u * step);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * step < end) {
        float terms[kVector], b[kVector] = {};
        if (reads_b(a)) {
          unpack(right[u], b);
        }
        vectors.gradients(a, u, b, i + u * step, terms);
        if (a.need_dB) {
          store_pack<Args::kStreamed>(terms, a.dB + i + u * step);
        }
      }
    }
  }
}

// One tile of columns over the slab: `sums` has the block's, thread by thread. kEven: what is added lies evenly apart.
template <int kVector, int kUnroll, bool kEven, class Args>
__device__ void column_task(const Args& a, const Plan& plan, const Split& split, long long task, float* sums) {
  const long long tile = task % split.tiles, slab = task / split.tiles;
  const long long tiles_of_row = split.tiles / plan.kept.count;
  const int x = threadIdx.x % split.across, y = threadIdx.x / split.across, rows = kTileThreads / split.across;
  const long long column = (tile % tiles_of_row * split.across + x) * kVector, of_kept = tile / tiles_of_row;
  const long long at = plan.kept.offset(of_kept) + column, at_b = of_kept * plan.inner + column;
  const long long end = plan.repeated.count * (slab + 1) / split.slabs;
  const bool inside = column < plan.inner;
  float right[kVector] = {}, sum[kVector] = {};
  if (inside && reads_b(a)) {
    unpack(load_pack<kVector>(a.B + at_b), right);
  }
  for (long long r = plan.repeated.count * slab / split.slabs + y; inside && r < end; r += kUnroll * rows) {
    Vectors<kVector, kUnroll, Args> vectors;
    long long from[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      from[u] = at + (kEven ? (r + u * rows) * plan.repeated.stride[0] : plan.repeated.offset(r + u * rows));
      if (r + u * rows < end) {
        vectors.read(a, u, from[u]);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (r + u * rows < end) {
        float terms[kVector];
        vectors.gradients(a, u, right, from[u], terms);
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          sum[v] += terms[v];
        }
      }
    }
  }
  if (!a.need_dB) {
    return;
  }
  // The rows of the block, pairwise.
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    sums[v * kTileThreads + threadIdx.x] = sum[v];
  }
  for (int half = rows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        sum[v] += sums[v * kTileThreads + threadIdx.x + half * split.across];
        sums[v * kTileThreads + threadIdx.x] = sum[v];
      }
    }
  }
  if (inside && y == 0) {
    if (split.slabs > 1) {
      store_pack(sum, static_cast<float*>(a.partials) + slab * plan.b_elements + at_b);
    } else {
      store_pack(sum, a.dB + at_b);
    }
  }
  __syncthreads();
}

// The elements [first, end) of a row that share an element of B, by `threads` threads of which this is number `own`.
template <int kVector, int kUnroll, class Args>
__device__ float row_run(const Args& a, float b, long long first, long long end, int own, int threads) {
  float sum[kVector] = {}, right[kVector];
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    right[v] = b;
  }
  const int step = threads * kVector;
  for (long long i = first + own * kVector; i < end; i += kUnroll * step) {
    Vectors<kVector, kUnroll, Args> vectors;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * step < end) {
        vectors.read(a, u, i + u * step);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * step < end) {
        float terms[kVector];
        vectors.gradients(a, u, right, i + u * step, terms);
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          sum[v] += terms[v];
        }
      }
    }
  }
  float total = 0;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    total += sum[v];
  }
  return total;
}

// One element of dB over the slab, by split.across warps; all warps of the block call it.
template <int kVector, int kUnroll, class Args>
__device__ void row_task(const Args& a, const Plan& plan, const Split& split, long long task, bool is_task,
                         float* of_warp) {
  const int warp = threadIdx.x / 32, own = threadIdx.x % (32 * split.across);
  float sum = 0;
  const long long j = is_task ? task % split.tiles : 0, slab = is_task ? task / split.tiles : 0;
  if (is_task) {
    const long long terms = plan.repeated.count * plan.inner, kept = plan.kept.offset(j);
    const auto bound = [&](long long s) {
      return s == split.slabs ? terms : terms / kVector * s / split.slabs * kVector;
    };
    const float b = reads_b(a) ? load(a.B[j]) : 0;
    const bool aligned = plan.inner % kVector == 0;
    for (long long q = bound(slab), end = bound(slab + 1); q < end;) {
      const long long row = q / plan.inner, column = q - row * plan.inner;
      const long long count = plan.inner - column < end - q ? plan.inner - column : end - q;
      const long long at = kept + plan.repeated.offset(row) + column;
      sum += aligned ? row_run<kVector, kUnroll>(a, b, at, at + count, own, 32 * split.across)
                     : row_run<1, kUnroll>(a, b, at, at + count, own, 32 * split.across);
      q += count;
    }
    sum = sum_of_lanes(sum);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[warp] = sum;
  }
  __syncthreads();
  if (is_task && a.need_dB && own == 0) {
    sum = 0;
    for (int w = 0; w < split.across; ++w) {
      sum += of_warp[warp + w];
    }
    if (split.slabs > 1) {
      static_cast<float*>(a.partials)[slab * plan.b_elements + j] = sum;
    } else {
      put(sum, a.dB + j);
    }
  }
  __syncthreads();
}

// For add_slabs(), which does not know how many blocks this launch has.
template <class Args>
__device__ void tell_slabs(const Args& a, long long slabs) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *static_cast<long long*>(a.slabs) = slabs;
  }
}

template <int kVector, int kUnroll, class Args>
__device__ void columns(const Args& a, const Plan& plan, float* sums) {
  const Split split = split_columns<kVector>(plan, gridDim.x);
  tell_slabs(a, split.slabs);
  for (long long task = blockIdx.x; task < split.tiles * split.slabs; task += gridDim.x) {
    if (plan.repeated.rank == 1) {
      column_task<kVector, kUnroll, true>(a, plan, split, task, sums);
    } else {
      column_task<kVector, 1, false>(a, plan, split, task, sums);
    }
  }
}

template <int kVector, int kUnroll, class Args>
__device__ void planned_gradients(const Args& a, const Plan& plan, float* sums) {
  if (!plan.repeats) {
    tell_slabs(a, 1);
    const long long whole = plan.elements / kVector * kVector;
    equal_vectors<kVector, kUnroll>(a, 0, whole);
    equal_vectors<1, 1>(a, whole, plan.elements);
  } else if (!plan.inner_is_kept) {
    const Split split = split_rows(plan, gridDim.x);
    tell_slabs(a, split.slabs);
    const int at_once = kTileWarps / split.across;
    const long long tasks = split.tiles * split.slabs;
    for (long long first = 1LL * at_once * blockIdx.x; first < tasks; first += 1LL * at_once * gridDim.x) {
      const long long task = first + threadIdx.x / 32 / split.across;
      row_task<kVector, kUnroll>(a, plan, split, task, task < tasks, sums);
    }
  } else if (plan.inner % kVector == 0) {
    columns<kVector, kUnroll>(a, plan, sums);
  } else {
    columns<1, kUnroll>(a, plan, sums);
  }
}

// kVector elements of A are 16 bytes. Operations with a division or a comparison have loops of their own, which leaves
// the others the registers for kUnroll vectors.
template <int kVector, int kUnroll, bool kStreamed, class Args>
__device__ void tiled_gradients(const Args& a) {
  __shared__ Plan plan;
  __shared__ float sums[kTileThreads * kVector];
  if (threadIdx.x == 0) {
    plan.make(a);
  }
  __syncthreads();
  if (a.op <= 2) {
    planned_gradients<kVector, kUnroll>(Known<Args, true, kStreamed>(a), plan, sums);
  } else {
    planned_gradients<kVector, 1>(Known<Args, false, kStreamed>(a), plan, sums);
  }
}

// The slabs of each element of dB, in their order: 32 elements by 8 groups of slabs.
template <class Args>
__device__ void add_slabs(const Args& a) {
  __shared__ Plan plan;
  __shared__ float sums[kTileThreads];
  const long long slabs = *static_cast<const long long*>(a.slabs);
  if (!a.need_dB || slabs < 2) {
    return;
  }
  if (threadIdx.x == 0) {
    plan.make(a);
  }
  __syncthreads();
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (long long first = 32LL * blockIdx.x; first < plan.b_elements; first += 32LL * gridDim.x) {
    const long long j = first + x;
    float sum = 0;
    for (long long slab = y; j < plan.b_elements && slab < slabs; slab += kTileWarps) {
      sum += static_cast<const float*>(a.partials)[slab * plan.b_elements + j];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (y == 0 && j < plan.b_elements) {
      for (int w = 1; w < kTileWarps; ++w) {
        sum += sums[w * 32 + x];
      }
      put(sum, a.dB + j);
    }
    __syncthreads();
  }
}

}  // namespace
