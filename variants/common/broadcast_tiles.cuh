// variants/common/broadcast_tiles.cuh - the binary backward on a GPU, a pattern of B at a time, in vectors of 16 bytes.
//
// With all dimensions compressed, B repeats nowhere (equal), or keeps the innermost one (columns), or repeats along it
// (rows). Columns: a block owns a tile of dB and a slab of what is summed, with its sums in registers. Rows: a group of
// warps owns an element of dB and a slab. What more than one slab sums meets in `partials`, in a fixed order.
#pragma once
#include "broadcast_plan.cuh"
#include "broadcast_slabs.cuh"

namespace {

template <class T, int kCount>
struct alignas(sizeof(T) * kCount <= 16 ? sizeof(T) * kCount : 16) Pack {
  T of[kCount];
};

// What the compiler knows of the operation: nothing, that the derivatives are linear in the other operand (add, sub,
// mul), or that they are the other operand (mul).
enum class Op { any, linear, product };

// The arguments, and what the compiler knows of a loop: the operation, and whether the large tensors, read and written
// once, leave no lines in the caches.
template <class Given, Op kOp, bool kIsStreamed>
struct Known : Given {
  static constexpr bool kLinear = kOp != Op::any, kProduct = kOp == Op::product, kStreamed = kIsStreamed;
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
  if constexpr (sizeof(T) == 2 && kCount % 2 == 0) {  // the upper one of the two in a word is a mask away
    unsigned words[kCount / 2];
    memcpy(words, &pack, sizeof pack);
#pragma unroll
    for (int w = 0; w < kCount / 2; ++w) {
      to[2 * w] = low(words[w]);
      to[2 * w + 1] = high(words[w]);
    }
  } else {
#pragma unroll
    for (int v = 0; v < kCount; ++v) {
      to[v] = load(pack.of[v]);
    }
  }
}

// The products, each rounded once.
template <int kCount, class T>
__device__ Pack<T, kCount> product(const Pack<T, kCount>& x, const Pack<T, kCount>& y) {
  Pack<T, kCount> pack;
  if constexpr (sizeof(T) == 2 && kCount % 2 == 0) {
    unsigned of_x[kCount / 2], of_y[kCount / 2], words[kCount / 2];
    memcpy(of_x, &x, sizeof x);
    memcpy(of_y, &y, sizeof y);
#pragma unroll
    for (int w = 0; w < kCount / 2; ++w) {
      asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(words[w]) : "r"(of_x[w]), "r"(of_y[w]), "r"(0x80008000u));
    }
    memcpy(&pack, words, sizeof pack);
    return pack;
  }
#pragma unroll
  for (int v = 0; v < kCount; ++v) {
    put(load(x.of[v]) * load(y.of[v]), &pack.of[v]);
  }
  return pack;
}

template <bool kStream = false, int kCount, class T>
__device__ void store_pack(const Pack<T, kCount>& pack, T* to) {
  if constexpr (kStream && sizeof pack == 16) {
    uint4 bits;
    memcpy(&bits, &pack, sizeof pack);
    __stcs(reinterpret_cast<uint4*>(to), bits);
  } else {
    *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
  }
}

template <class T>
struct Element;
template <class T>
struct Element<const T*> {
  using Type = T;
};

// A vector of B, as it lies in memory.
template <int kVector, class Args>
using OfB = Pack<typename Element<decltype(Args::B)>::Type, kVector>;

template <bool kStream = false, int kCount, class T>
__device__ void store_pack(const float (&from)[kCount], T* to) {
  Pack<T, kCount> pack;
#pragma unroll
  for (int v = 0; v < kCount; ++v) {
    put(from[v], &pack.of[v]);
  }
  store_pack<kStream>(pack, to);
}

template <class OfElements>
__device__ OfElements repeated_pack(float value) {
  OfElements pack;
#pragma unroll
  for (auto& element : pack.of) {
    put(value, &element);
  }
  return pack;
}

// Vectors of g and A that are under way together, in their own type until they are used: registers are what limits how
// many a multiprocessor has under way.
template <int kVector, int kUnroll, class Args>
struct Vectors {
  using OfA = Pack<typename Element<decltype(Args::A)>::Type, kVector>;
  Pack<typename Element<decltype(Args::g)>::Type, kVector> g[kUnroll];
  OfA left[kUnroll];
  // Products of tensors of one type are taken in that type.
  static constexpr bool kIsProduct = Args::kProduct && sizeof(OfA) == sizeof(OfB<kVector, Args>);

  __device__ void read(const Args& a, int u, long long at) {
    g[u] = load_pack<kVector, Args::kStreamed>(a.g + at);
    if (reads_a(a)) {
      left[u] = load_pack<kVector, Args::kStreamed>(a.A + at);
    }
  }

  // dA of a vector, and what goes to dB of each element, added to `sum`. What is not read counts as 0.
  __device__ void add(const Args& a, int u, const OfB<kVector, Args>& of_b, long long at, float (&sum)[kVector]) const {
    if constexpr (kIsProduct) {
      if (a.need_dA) {
        store_pack<Args::kStreamed>(product(g[u], of_b), a.dA + at);
      }
      if (a.need_dB) {
        float of_g[kVector], x[kVector];
        unpack(g[u], of_g);
        unpack(left[u], x);
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          sum[v] = fmaf(of_g[v], x[v], sum[v]);
        }
      }
      return;
    }
    float of_a[kVector], of_g[kVector], right[kVector], x[kVector] = {};
    unpack(g[u], of_g);
    unpack(of_b, right);
    if (reads_a(a)) {
      unpack(left[u], x);
    }
    if constexpr (Args::kLinear) {
      const float factor = a.op == 2 ? 1 : 0, constant = 1 - factor, signed_constant = a.op == 1 ? -1 : constant;
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        of_a[v] = of_g[v] * (factor * right[v] + constant);
        sum[v] += of_g[v] * (factor * x[v] + signed_constant);
      }
    } else {
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        of_a[v] = of_g[v] * derivative_by_a(a, x[v], right[v]);
        sum[v] += of_g[v] * derivative_by_b(a, x[v], right[v]);
      }
    }
    if (a.need_dA) {
      store_pack<Args::kStreamed>(of_a, a.dA + at);
    }
  }

  // dA and dB of a vector, where B repeats nowhere.
  __device__ void both(const Args& a, int u, const OfB<kVector, Args>& of_b, long long at) const {
    if constexpr (kIsProduct) {
      if (a.need_dA) {
        store_pack<Args::kStreamed>(product(g[u], of_b), a.dA + at);
      }
      if (a.need_dB) {
        store_pack<Args::kStreamed>(product(g[u], left[u]), a.dB + at);
      }
    } else {
      float of_b_gradient[kVector] = {};
      add(a, u, of_b, at, of_b_gradient);
      if (a.need_dB) {
        store_pack<Args::kStreamed>(of_b_gradient, a.dB + at);
      }
    }
  }
};

template <int kVector, int kUnroll, class Args>
__device__ void equal_vectors(const Args& a, long long first, long long end) {
  const long long step = 1LL * kTileThreads * gridDim.x * kVector;
  for (long long i = first + (1LL * kTileThreads * blockIdx.x + threadIdx.x) * kVector; i < end; i += kUnroll * step) {
    Vectors<kVector, kUnroll, Args> vectors;
    OfB<kVector, Args> right[kUnroll] = {};
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
        vectors.both(a, u, right[u], i + u * step);
      }
    }
  }
}

// The sums of a block's rows, pairwise, in its first row.
template <int kVector>
__device__ void sum_rows(const Split& split, float (&sum)[kVector], float* sums) {
  for (int half = kTileThreads / split.across / 2; half > 0; half /= 2) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      sums[v * kTileThreads + threadIdx.x] = sum[v];
    }
    __syncthreads();
    if (threadIdx.x < half * split.across) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        sum[v] += sums[v * kTileThreads + threadIdx.x + half * split.across];
      }
    }
    __syncthreads();
  }
}

// Without memory for partial sums there is one slab.
template <int kVector, class Args>
__device__ void put_sums(const Args& a, const Plan& plan, const Split& split, long long slab, long long at_b,
                         const float (&sum)[kVector]) {
  if constexpr (requires { a.partials; }) {
    if (split.slabs > 1) {
      store_pack(sum, static_cast<float*>(a.partials) + slab * plan.b_elements + at_b);
      return;
    }
  }
  store_pack(sum, a.dB + at_b);
}

// One tile of columns over the slab: `sums` has the block's, thread by thread. kEven: what is added lies evenly apart.
template <int kVector, int kUnroll, bool kEven, class Args>
__device__ void column_task(const Args& a, const Plan& plan, const Split& split, long long task, float* sums) {
  long long tile, slab;
  split.place(task, tile, slab);
  const long long of_kept = plan.kept.rank == 0 ? 0 : quotient(tile, split.tiles_of_row);
  const int x = threadIdx.x & (split.across - 1), y = threadIdx.x / split.across, rows = kTileThreads / split.across;
  const long long column = ((tile - of_kept * split.tiles_of_row) * split.across + x) * kVector;
  const long long at = plan.kept.offset(of_kept) + column, at_b = of_kept * plan.inner + column;
  const long long end = plan.repeated.count;
  const bool inside = column < plan.inner;
  OfB<kVector, Args> right = {};
  float sum[kVector] = {};
  if (inside && reads_b(a)) {
    right = load_pack<kVector>(a.B + at_b);
  }
  const int apart = rows * static_cast<int>(split.slabs);
  const long long first = slab * rows + y, step = kEven ? apart * plan.repeated.stride[0] : 0;
  long long next = at + (kEven ? first * plan.repeated.stride[0] : 0);
  for (long long r = first; inside && r < end; r += kUnroll * apart, next += kUnroll * step) {
    Vectors<kVector, kUnroll, Args> vectors;
    const auto from = [&](int u) { return kEven ? next + u * step : at + plan.repeated.offset(r + u * apart); };
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (r + u * apart < end) {
        vectors.read(a, u, from(u));
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (r + u * apart < end) {
        vectors.add(a, u, right, from(u), sum);
      }
    }
  }
  if (a.need_dB) {
    sum_rows<kVector>(split, sum, sums);
    if (inside && y == 0) {
      put_sums(a, plan, split, slab, at_b, sum);
    }
  }
}

// The elements [first, end) of a row that share an element of B, by `threads` threads of which this is number `own`.
template <int kVector, int kUnroll, class Args>
__device__ float row_run(const Args& a, float b, long long first, long long end, int own, int threads) {
  float sum[kVector] = {};
  const auto right = repeated_pack<OfB<kVector, Args>>(b);
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
        vectors.add(a, u, right, i + u * step, sum);
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

// The sum of the warps that share an element of dB, in the first of them; by all warps of the block.
inline __device__ float sum_of_warps(const Split& split, float sum, float* of_warp) {
  if (threadIdx.x % 32 == 0) {
    *of_warp = sum;
  }
  __syncthreads();
  sum = 0;
  if ((threadIdx.x / 32 & (split.across - 1)) == 0) {
    for (int w = 0; w < split.across; ++w) {
      sum += of_warp[w];
    }
  }
  __syncthreads();
  return sum;
}

// One element of dB over the slab, by split.across warps; all warps of the block call it.
template <int kVector, int kUnroll, class Args>
__device__ void row_task(const Args& a, const Plan& plan, const Split& split, long long task, bool is_task,
                         float* of_warp) {
  const int warp = threadIdx.x / 32, own = threadIdx.x & (32 * split.across - 1);
  float sum = 0;
  long long j = 0, slab = 0;
  if (is_task) {
    split.place(task, j, slab);
    const long long kept = plan.kept.offset(j), first = split.first(slab) * kVector;
    const long long end = slab + 1 == split.slabs ? plan.repeated.count * plan.inner : split.first(slab + 1) * kVector;
    const float b = reads_b(a) ? load(a.B[j]) : 0;
    const bool aligned = plan.inner % kVector == 0;
    long long row = plan.repeated.rank == 0 || first == 0 ? 0 : quotient(first, plan.inner);
    for (long long q = first, column = first - row * plan.inner; q < end; ++row, column = 0) {
      const long long count = plan.inner - column < end - q ? plan.inner - column : end - q;
      const long long at = kept + plan.repeated.offset(row) + column;
      sum += aligned ? row_run<kVector, kUnroll>(a, b, at, at + count, own, 32 * split.across)
                     : row_run<1, kUnroll>(a, b, at, at + count, own, 32 * split.across);
      q += count;
    }
    sum = sum_of_lanes(sum);
  }
  if (!a.need_dB) {
    return;
  }
  if (split.across > 1) {
    sum = sum_of_warps(split, sum, of_warp + warp);
  }
  if (is_task && own == 0) {
    put_sums(a, plan, split, slab, j, {sum});
  }
}

template <int kVector, int kUnroll, class Args>
__device__ void columns(const Args& a, const Plan& plan, const Split& split, float* sums) {
  const long long tasks = split.tiles * split.slabs;
  for (long long task = blockIdx.x; task < tasks; task += gridDim.x) {
    if (plan.repeated.rank == 1) {
      column_task<kVector, kUnroll, true>(a, plan, split, task, sums);
    } else {
      column_task<kVector, 1, false>(a, plan, split, task, sums);
    }
  }
}

template <int kVector, int kUnroll, class Args>
__device__ void rows(const Args& a, const Plan& plan, const Split& split, float* sums) {
  const int at_once = kTileWarps / split.across;
  const long long tasks = split.tiles * split.slabs;
  for (long long first = 1LL * at_once * blockIdx.x; first < tasks; first += 1LL * at_once * gridDim.x) {
    const long long task = first + threadIdx.x / 32 / split.across;
    row_task<kVector, kUnroll>(a, plan, split, task, task < tasks, sums);
  }
}

template <int kVector, int kUnroll, class Args>
__device__ void planned_gradients(const Args& a, const Plan& plan, const Split& split, float* sums) {
  if (!plan.repeats) {
    const long long whole = plan.elements / kVector * kVector;
    equal_vectors<kVector, kUnroll>(a, 0, whole);
    equal_vectors<1, 1>(a, whole, plan.elements);
  } else if (!plan.inner_is_kept) {
    rows<kVector, kUnroll>(a, plan, split, sums);
  } else if (plan.inner % kVector == 0) {
    columns<kVector, kUnroll>(a, plan, split, sums);
  } else {
    columns<1, kUnroll>(a, plan, split, sums);
  }
}

// By one thread. A slab of rows is in units of kVector elements.
template <int kVector, int kUnroll>
__device__ void make_split(const Plan& plan, Split& split) {
  split.slabs = 1;
  if (plan.repeats && !plan.inner_is_kept) {
    split.rows(plan, gridDim.x, plan.repeated.count * plan.inner / kVector, 8);
  } else if (plan.repeats && plan.inner % kVector == 0) {
    split.columns<kVector, kUnroll>(plan, gridDim.x);
  } else if (plan.repeats) {
    split.columns<1, kUnroll>(plan, gridDim.x);
  }
}

// kVector elements of A are 16 bytes. Operations with a division or a comparison have loops of their own, which leaves
// the others the registers for kUnroll vectors.
template <int kVector, int kUnroll, bool kStreamed, class Args>
__device__ void tiled_gradients(const Args& a) {
  __shared__ Plan plan;
  __shared__ Split split;
  __shared__ float sums[kTileThreads * kVector];
  if (threadIdx.x == 0) {
    plan.make(a);
    make_split<kVector, kUnroll>(plan, split);
    tell_slabs(a, split.slabs, plan.b_elements);
  }
  __syncthreads();
  if constexpr (kIsPower<Args>) {
    planned_gradients<kVector, kUnroll>(Known<Args, Op::any, kStreamed>(a), plan, split, sums);
  } else if (a.op <= 2) {
    planned_gradients<kVector, kUnroll>(Known<Args, Op::linear, kStreamed>(a), plan, split, sums);
  } else {
    planned_gradients<kVector, 1>(Known<Args, Op::any, kStreamed>(a), plan, split, sums);
  }
}

}  // namespace
