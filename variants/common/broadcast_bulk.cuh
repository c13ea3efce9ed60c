// variants/common/broadcast_bulk.cuh - the binary backward on a GPU by lines that the copy engine brings (sm_90).
//
// Each pattern is a way to deal out the lines of A to warps. Columns: a warp has a strip of kLine columns and every so
// many rows. Rows: an element of dB has split.across warps. Equal: line by line. Where rows are shorter than a line, or
// no multiple of 16 bytes, the block goes the way of broadcast_tiles.cuh.
#pragma once
#include "broadcast_lines.cuh"

namespace {

// What a block shares beside its lines.
template <int kVector, int kRingStages>
struct BulkBlock {
  static constexpr int kStages = kRingStages;
  Plan plan;
  Split split;
  bool by_lines;
  long long lines_of_run;
  Barrier full[kTileWarps * kStages];
  Piece pieces[kTileWarps * kStages];
  float sums[kTileThreads * kVector];
};

// How wide a tile of columns is where each has one slab: narrow enough that most blocks have one.
inline __device__ int most_across(long long vectors, int blocks) {
  int most = kTileShift;
  while (most > 5 && 2 * (vectors >> most) <= blocks) {
    --most;
  }
  return most;
}

// kLine = 32 lanes x kWide vectors.
template <int kVector, int kWide, bool kOneSlab>
__device__ void plan_lines(Plan& plan, Split& split, bool& by_lines, long long& lines_of_run) {
  constexpr int kLine = 32 * kVector * kWide;
  by_lines = !plan.repeats || (plan.inner % kVector == 0 && plan.inner >= kLine);
  lines_of_run = (plan.inner + kLine - 1) / kLine;
  if (!by_lines || !plan.repeats) {
    make_split<kVector, 1>(plan, split);
  } else if (plan.inner_is_kept) {
    const long long vectors = plan.kept.count * plan.inner / (kVector * kWide);
    split.columns<kVector * kWide, 4>(plan, gridDim.x, kOneSlab ? most_across(vectors, gridDim.x) : kTileShift);
  } else {
    split.rows(plan, gridDim.x, plan.repeated.count * lines_of_run, 1);
  }
  if (kOneSlab && plan.repeats) {
    split.one_slab(plan.repeated.count * (by_lines ? lines_of_run : plan.inner / kVector));
  }
}

template <int kVector, int kWide, class Ring, class Args, class Block>
__device__ void equal_lines(const Args& a, Ring& ring, const Block& block) {
  const long long whole = block.plan.elements / kVector * kVector, lines = (whole + Ring::kLine - 1) / Ring::kLine;
  const OfB<kVector, Args> right[kWide] = {};
  float sum[kWide][kVector] = {};
  take_lines<kVector, true>(a, ring,
                            {.first = 1LL * kTileWarps * blockIdx.x + threadIdx.x / 32,
                             .end = lines,
                             .step = static_cast<int>(kTileWarps * gridDim.x),
                             .base = 0,
                             .length = whole,
                             .lines_of_run = lines,
                             .runs = &block.plan.repeated},
                            right, sum);
  equal_vectors<1, 1>(a, whole, block.plan.elements);
}

template <int kVector, int kWide, class Ring, class Args, class Block>
__device__ void column_lines(const Args& a, Ring& ring, Block& block) {
  const Plan& plan = block.plan;
  const Split& split = block.split;
  const int lane = threadIdx.x % 32, x = (threadIdx.x & (split.across - 1)) / 32, y = threadIdx.x / split.across;
  const int rows = kTileThreads / split.across;
  const long long tasks = split.tiles * split.slabs;
  for (long long task = blockIdx.x; task < tasks; task += gridDim.x) {
    long long tile, slab;
    split.place(task, tile, slab);
    const long long of_kept = plan.kept.rank == 0 ? 0 : quotient(tile, split.tiles_of_row);
    const long long strip = (tile - of_kept * split.tiles_of_row) * (split.across / 32) + x;
    const long long column = strip * Ring::kLine, at_b = of_kept * plan.inner + column, left = plan.inner - column;
    OfB<kVector, Args> right[kWide] = {};
    float sum[kWide][kVector] = {};
#pragma unroll
    for (int u = 0; u < kWide; ++u) {
      const int i = (32 * u + lane) * kVector;
      if (i < left && reads_b(a)) {
        right[u] = load_pack<kVector>(a.B + at_b + i);
      }
    }
    take_lines<kVector, false>(a, ring,
                               {.first = slab * rows + y,
                                .end = left > 0 ? plan.repeated.count : 0,
                                .step = rows * static_cast<int>(split.slabs),
                                .base = plan.kept.offset(of_kept) + column,
                                .length = left,
                                .lines_of_run = 1,
                                .runs = &plan.repeated},
                               right, sum);
#pragma unroll
    for (int u = 0; u < kWide && a.need_dB; ++u) {
      const int i = (32 * u + lane) * kVector;
      sum_rows<kVector>(split, sum[u], block.sums);
      if (i < left && y == 0) {
        put_sums(a, plan, split, slab, at_b + i, sum[u]);
      }
    }
  }
}

template <int kVector, int kWide, class Ring, class Args, class Block>
__device__ void row_lines(const Args& a, Ring& ring, Block& block) {
  const Plan& plan = block.plan;
  const Split& split = block.split;
  const int warp = threadIdx.x / 32, own = warp & (split.across - 1), at_once = kTileWarps / split.across;
  const long long tasks = split.tiles * split.slabs;
  for (long long first = 1LL * at_once * blockIdx.x; first < tasks; first += 1LL * at_once * gridDim.x) {
    const long long task = first + warp / split.across;
    OfB<kVector, Args> right[kWide];
    float sum[kWide][kVector] = {}, total = 0;
    long long j = 0, slab = 0;
    if (task < tasks) {
      split.place(task, j, slab);
      const float b = reads_b(a) ? load(a.B[j]) : 0;
#pragma unroll
      for (int u = 0; u < kWide; ++u) {
        right[u] = repeated_pack<OfB<kVector, Args>>(b);
      }
      take_lines<kVector, false>(a, ring,
                                 {.first = split.first(slab) + own,
                                  .end = split.first(slab + 1),
                                  .step = split.across,
                                  .base = plan.kept.offset(j),
                                  .length = plan.inner,
                                  .lines_of_run = block.lines_of_run,
                                  .runs = &plan.repeated},
                                 right, sum);
#pragma unroll
      for (int i = 0; i < kWide * kVector; ++i) {
        total += sum[i / kVector][i % kVector];
      }
      total = sum_of_lanes(total);
    }
    if (a.need_dB && split.across > 1) {
      total = sum_of_warps(split, total, block.sums + warp);
    }
    if (a.need_dB && task < tasks && own == 0 && threadIdx.x % 32 == 0) {
      put_sums(a, plan, split, slab, j, {total});
    }
  }
}

// kBytes of dynamic shared memory for the lines of a warp.
template <int kVector, int kWide, int kBytes, class Args, class Block>
__device__ void planned_lines(const Args& a, Block& block, char* memory) {
  constexpr int kLine = 32 * kVector * kWide, kSlot = kLine * sizeof *a.g;
  constexpr int kAll = 2 * kSlot + kLine * sizeof *a.B;  // of a stage with B
  const int warp = threadIdx.x / 32;
  char* own = memory + warp * kBytes;
  Barrier* full = block.full + warp * Block::kStages;
  Piece* pieces = block.pieces + warp * Block::kStages;
  LineRing<kLine, kBytes / (2 * kSlot), kSlot, 2 * kSlot> ring = {own, full, pieces};
  LineRing<kLine, kBytes / kAll, kSlot, kAll> ring_with_b = {own, full, pieces};
  if (!block.plan.repeats) {
    equal_lines<kVector, kWide>(a, ring_with_b, block);
  } else if (block.plan.inner_is_kept) {
    column_lines<kVector, kWide>(a, ring, block);
  } else {
    row_lines<kVector, kWide>(a, ring, block);
  }
}

// kVector elements of A are 16 bytes; each warp has kStages lines of g and A under way, kWide vectors of a lane each.
// Without memory for partial sums, each element of dB has one block.
template <int kVector, int kWide, int kStages, bool kStreamed, class Args>
__device__ void bulk_gradients(const Args& a) {
  extern __shared__ __align__(128) char lines[];
  __shared__ BulkBlock<kVector, kStages> block;
  constexpr int kBytes = kStages * kWide * 2 * 512;
  if (threadIdx.x == 0) {
    block.plan.make(a);
    constexpr bool kHasSlabs = requires { a.partials; };
    plan_lines<kVector, kWide, !kHasSlabs>(block.plan, block.split, block.by_lines, block.lines_of_run);
    if constexpr (kHasSlabs) {
      tell_slabs(a, block.split.slabs, block.plan.b_elements);
    }
  } else if (threadIdx.x / 32 == 1) {
    for (int i = threadIdx.x % 32; i < kTileWarps * kStages; i += 32) {
      init_barrier(block.full[i], 1);
    }
    publish_barriers();
  }
  __syncthreads();
  if (!block.by_lines) {
    if (a.op <= 2) {
      planned_gradients<kVector, 1>(Known<Args, Op::linear, kStreamed>(a), block.plan, block.split, block.sums);
    } else {
      planned_gradients<kVector, 1>(Known<Args, Op::any, kStreamed>(a), block.plan, block.split, block.sums);
    }
  } else if (a.op == 2) {
    planned_lines<kVector, kWide, kBytes>(Known<Args, Op::product, kStreamed>(a), block, lines);
  } else if (a.op < 2) {
    planned_lines<kVector, kWide, kBytes>(Known<Args, Op::linear, kStreamed>(a), block, lines);
  } else {
    planned_lines<kVector, kWide, kBytes>(Known<Args, Op::any, kStreamed>(a), block, lines);
  }
}

}  // namespace
