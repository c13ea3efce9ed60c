// variants/common/broadcast_plan.cuh - the binary backward on a GPU: which pattern B has, and what each block sums.
//
// One thread of a block makes Plan and Split before the first load, with cold instructions: every division that is left
// out counts. Divisions by 1 and of 32 bits have short ways.
#pragma once
#include "broadcast.cuh"

namespace {

#ifndef TILE_SHIFT
#define TILE_SHIFT 8
#endif
constexpr int kTileShift = TILE_SHIFT;
constexpr int kTileThreads = 1 << kTileShift;
constexpr int kTileWarps = kTileThreads / 32;

// a / b of numbers that are not negative. Most fit 32 bits, where a division takes a quarter of the instructions.
inline __device__ long long quotient(long long a, long long b) {
  if (b == 1) {
    return a;
  }
  return (a | b) >> 32 == 0 ? static_cast<unsigned>(a) / static_cast<unsigned>(b) : a / b;
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
    if (rank == 0) {
      return 0;
    }
    long long sum = 0;
#pragma unroll 1
    for (int d = 0; d + 1 < rank; ++d) {
      const long long outer = quotient(index, extent[d]);
      sum += (index - outer * extent[d]) * stride[d];
      index = outer;
    }
    return sum + index * stride[rank - 1];
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

// How the sums of dB are split into tasks: tiles of dB times slabs of what is added. A slab of columns is every so many
// rows, so that all blocks read near one another; a slab of rows is what lies together.
struct Split {
  long long tiles, slabs;
  long long tiles_of_row;  // columns
  long long each, rest;    // rows: the terms of a slab, in units; the first `rest` slabs have one more
  int across;              // columns: threads, rows: warps of a block that share an element or a row; a power of two

  // As many slabs as the workers have tasks for, each of 2^least units or more.
  __device__ void make_slabs(long long workers, long long units, int least) {
    const long long most = units >> least, wanted = tiles * 2 > workers ? 1 : quotient(workers, tiles > 1 ? tiles : 1);
    slabs = most <= 1 || wanted <= 1 ? 1 : wanted > most ? most : wanted;
  }

  // The tile of a block is up to 2^most threads wide, and a thread adds 1, 2 or 4 rows or more, as kUnroll says.
  template <int kVector, int kUnroll>
  __device__ void columns(const Plan& plan, int blocks, int most = kTileShift) {
    const long long vectors = (plan.inner + kVector - 1) / kVector;
    int shift = 0;
    while (shift < most && 1 << shift < vectors) {
      ++shift;
    }
    across = 1 << shift;
    tiles_of_row = (vectors + across - 1) >> shift;
    tiles = plan.kept.count * tiles_of_row;
    make_slabs(blocks, plan.repeated.count, kTileShift - shift + (kUnroll >= 4 ? 2 : kUnroll / 2));
  }

  // An element of dB has one warp, or as many as there are for each; `units` of terms, and 2^least of them for a warp.
  __device__ void rows(const Plan& plan, int blocks, long long units, int least) {
    int shift = 0;
    while (shift < kTileShift - 5 && plan.kept.count << shift < kTileWarps * static_cast<long long>(blocks)) {
      ++shift;
    }
    across = 1 << shift;
    tiles = plan.kept.count;
    make_slabs(1LL * blocks * (kTileWarps >> shift), units, least + shift);
    each = quotient(units, slabs);
    rest = units - each * slabs;
  }

  // Nothing is split; `units` as for rows().
  __device__ void one_slab(long long units) {
    slabs = 1;
    each = units;
    rest = 0;
  }

  __device__ long long first(long long slab) const { return slab * each + (slab < rest ? slab : rest); }
  __device__ void place(long long task, long long& tile, long long& slab) const {
    slab = slabs == 1 ? 0 : quotient(task, tiles);
    tile = task - slab * tiles;
  }
};

}  // namespace
