// variants/lse_backward/wgmma_items.cuh - which items a block takes: one of each round, and parts of what the last round
// would have.
//
// An item is 128 queries or 128 keys. Where a last round would leave many blocks idle (4,096 items are 31 rounds of 132
// and 4 more), its items are split along the tiles that pass by. The sums of a part go to memory, warp by warp; the last
// warp to bring its own, by a counter that is 0 between calls, adds those of all parts in their order.
#pragma once
#include "wgmma_tiles.cuh"

namespace {

constexpr unsigned kMostSplit = 256;                            // items
__device__ unsigned parts_done[kMostSplit * kConsumers * 4];  // of an item and a warp

// In shared memory: in registers it would be in the way of the products. Made once, with cold instructions, so that few
// are best.
struct Items {
  unsigned queries;       // items of them; those of the keys follow
  unsigned whole, split;  // items
  unsigned parts;         // of each of the latter

  __device__ void make(const lse_backward_args& a) {
    queries = static_cast<unsigned>(a.heads * a.group) * query_items(a);
    const unsigned all = queries + static_cast<unsigned>(a.heads) * key_items(a);
    split = all % gridDim.x;
    whole = all - split;
    parts = 1;
    // In the time of a tile a part is written and read again. The last items of a causal mask are short anyway.
    const unsigned most = a.causal ? 0 : query_items(a) * static_cast<unsigned>(a.group) / 8;
    if (split > 0 && split <= kMostSplit && most > 1) {
      const unsigned of_one_round = gridDim.x / split;
      parts = of_one_round > 1 ? min(of_one_round, most) : most > 2 && 3 * split <= 2 * gridDim.x ? 3 : 1;
    }
  }

  __device__ Work work_of(const lse_backward_args& a, unsigned item) const {
    return item < queries ? queries_at(a, item) : keys_at(a, item - queries);
  }

  // A unit is a whole item or a part of one.
  __device__ unsigned units() const { return whole + split * parts; }
  __device__ bool is_part(unsigned unit) const { return unit >= whole && parts > 1; }
  __device__ unsigned item(unsigned unit) const { return is_part(unit) ? whole + (unit - whole) / parts : unit; }

  __device__ Work work(const lse_backward_args& a, unsigned unit) const {
    const unsigned of = item(unit);
    Work work = work_of(a, of);
    if (is_part(unit)) {
      const unsigned part = unit - whole - (of - whole) * parts;
      const auto tiles = static_cast<unsigned>(work.tiles), first = tiles * part / parts;
      work.begin += static_cast<int>(first) * kTile;
      work.tiles = static_cast<int>(tiles * (part + 1) / parts - first);
    }
    return work;
  }
};

// The sums of a part become those of its item in the last warp that brings its own: true there.
template <int kD>
__device__ bool add_parts(const lse_backward_args& a, const Items& items, unsigned unit, int consumer,
                          float (&sums)[kD / 2]) {
  constexpr unsigned kPart = kOwn * kD;
  const unsigned parts = items.parts, at = unit - items.whole, of_item = at / parts * parts;
  const unsigned warp = consumer * 4 + threadIdx.x / 32 % 4;
  float* const first = static_cast<float*>(a.parts) + warp * (16 * kD) + threadIdx.x % 32;
  float* const own = first + static_cast<size_t>(at) * kPart;
#pragma unroll
  for (int i = 0; i < kD / 2; ++i) {
    own[32 * i] = sums[i];
  }
  __threadfence();
  __syncwarp();
  unsigned before = 0;
  if (threadIdx.x % 32 == 0) {
    before = atomicInc(&parts_done[at / parts * (kConsumers * 4) + warp], parts - 1);
  }
  if (__shfl_sync(kAll, before, 0) != parts - 1) {
    return false;
  }
  __threadfence();
#pragma unroll
  for (int i = 0; i < kD / 2; ++i) {
    sums[i] = 0;
  }
  for (unsigned part = of_item; part < of_item + parts; ++part) {
    const float* const from = first + static_cast<size_t>(part) * kPart;
#pragma unroll
    for (int i = 0; i < kD / 2; ++i) {
      sums[i] += __ldcg(from + 32 * i);
    }
  }
  return true;
}

template <int kD>
struct SharedItems : Shared<kD> {
  alignas(16) Items items;
};
static_assert(sizeof(SharedItems<64>) == sizeof(Shared<64>) && sizeof(SharedItems<128>) == sizeof(Shared<128>));

// Of the first warpgroup one warp copies and one makes what goes with queries; the other two warpgroups multiply.
template <int kD>
__device__ void all_work(const lse_backward_args& a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedItems<kD>*>(memory);
  const Items& items = shared.items;
  if (threadIdx.x == 64) {
    shared.items.make(a);
  }
  begin_block<kD>(a, shared);
  const int warp = __shfl_sync(kAll, threadIdx.x / 32, 0);
  Ring<kStages> ring;
  unsigned parity = 0;
  if (warp < 4) {
    keep_registers<40>();
    if (threadIdx.x == 0) {
      acquire_maps(a);
      for (unsigned unit = blockIdx.x; unit < items.units(); unit += gridDim.x) {
        if (items.item(unit) < items.queries) {
          copy_tiles<kD, false>(a, items.work(a, unit), shared, ring, parity);
        } else {
          copy_tiles<kD, true>(a, items.work(a, unit), shared, ring, parity);
        }
      }
    } else if (warp == 1) {
      for (unsigned unit = blockIdx.x; unit < items.units(); unit += gridDim.x) {
        if (items.item(unit) < items.queries) {
          make_query_tiles<kD, false>(a, items.work(a, unit), shared, ring);
        } else {
          make_query_tiles<kD, true>(a, items.work(a, unit), shared, ring);
        }
      }
    }
  } else {
    take_registers<232>();
    const int consumer = warp / 4 - 1;
    if (consumer == 1) {
      Turns{1}.give();  // the first turn
    }
    for (unsigned unit = blockIdx.x; unit < items.units(); unit += gridDim.x) {
      const auto complete = [&](float (&sums)[kD / 2]) {
        return !items.is_part(unit) || add_parts<kD>(a, items, unit, consumer, sums);
      };
      if (items.item(unit) < items.queries) {
        Consumer<kD, false>(a, shared, consumer).consume(items.work(a, unit), ring, parity, complete);
      } else {
        Consumer<kD, true>(a, shared, consumer).consume(items.work(a, unit), ring, parity, complete);
      }
    }
    if (consumer == 0) {
      Turns{0}.take();  // the other one gives a last turn
    }
  }
}

}  // namespace
