// variants/lse_backward/wgmma_work.cuh - which rows a block works on, where they lie in shared memory, and their
// copies.
//
// The block owns 128 rows of one side, queries or keys, and tiles of the other side pass by.
#pragma once
#include "bulk_copies.cuh"
#include "scores.cuh"

namespace {

constexpr int kOwn = 128;   // rows of a block
constexpr int kTile = 128;  // rows that pass by together
constexpr int kStages = STAGES;
constexpr int kHalf = 64;  // columns of a tile that lie together
constexpr int kRows16 = 16 * kHalf * sizeof(bf16) / 16;  // 16 rows of them, as descriptors count
constexpr int kConsumers = 2;
constexpr float kLog2e = 1.4426950408889634f;

// What the weights of a tile of queries need beside the scores, for dk: log2(abs(dlse)) - lse log2(e) is added to a
// score in powers of 2, and dlse's sign set in the weight. A thread of a warpgroup has the columns 8 n + 2 t + c of the
// tile, with t = thread % 4 and c = 0, 1. Their signs are the bits 16 c + 15 - n of signs[t].
struct alignas(16) QueryTile {
  float offsets[kTile];
  unsigned signs[4];
};

// By one warp: the tile of queries that begins at `first`. `may_write` comes back when nobody reads `tile` any more.
template <class MayWrite>
__device__ void make_query_tile(const lse_backward_args& a, int head, int first, QueryTile& tile, MayWrite may_write) {
  const int lane = threadIdx.x % 32;
  float dlse[4], lse[4];
  unsigned signs[4];
  const auto column = [&](int t) { return 8 * (15 - lane % 16) + 2 * t + lane / 16; };
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    const long long row = first + column(t);
    dlse[t] = row < a.S ? a.dlse[head * a.S + row] : 0;  // whose logarithm makes the weights 0
    lse[t] = row < a.S ? a.lse[head * a.S + row] : 0;
  }
  may_write();
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    tile.offsets[column(t)] = log2f(fabsf(dlse[t])) - kLog2e * lse[t];
    signs[t] = __ballot_sync(kAll, dlse[t] < 0);
  }
  if (lane == 0) {
    *reinterpret_cast<uint4*>(tile.signs) = {signs[0], signs[1], signs[2], signs[3]};
  }
}

template <int kD>
struct alignas(1024) Shared {
  bf16 own[kD / kHalf][kOwn][kHalf];
  bf16 tiles[kStages][kD / kHalf][kTile][kHalf];
  QueryTile queries[kStages];
  unsigned long long maps[2][kTensorMapBytes / 8];  // of q and k, as they are made
  Barrier own_full, own_empty, full[kStages], empty[kStages];
};
// The launch asks for as much.
static_assert(sizeof(Shared<64>) == 1024 * ((256 * 64 * (1 + kStages) + 544 * kStages + 272 + 1023) / 1024));
static_assert(sizeof(Shared<128>) == 1024 * ((256 * 128 * (1 + kStages) + 544 * kStages + 272 + 1023) / 1024));

// The block's own map of q or k in the scratch buffer, whose maps lie at multiples of 128 bytes.
inline __device__ char* map_of(const lse_backward_args& a, bool is_keys) {
  const auto first = (reinterpret_cast<unsigned long long>(a.maps) + kTensorMapBytes - 1) / kTensorMapBytes;
  return reinterpret_cast<char*>((first + 2 * blockIdx.x + is_keys) * kTensorMapBytes);
}

// The block's rows of one head, and the tiles of the other side that they see, in each of `heads` heads of it.
struct Work {
  int head, first;        // own
  int other_head, heads;  // passing by
  int begin, tiles;       // of each head
  int turn = 0;           // the tile that comes first; behind the last one follow those before it

  __device__ int row_of(int tile) const {
    tile += turn;
    return begin + (tile < tiles ? tile : tile - tiles) * kTile;
  }
};

// Of a head.
inline __device__ unsigned query_items(const lse_backward_args& a) {
  return (static_cast<unsigned>(a.S) + kOwn - 1) / kOwn;
}
inline __device__ unsigned key_items(const lse_backward_args& a) {
  return (static_cast<unsigned>(a.keys) + kOwn - 1) / kOwn;
}

inline __device__ Work queries_at(const lse_backward_args& a, unsigned item) {
  const unsigned tiles = query_items(a), heads = static_cast<unsigned>(a.heads * a.group);
  // With a causal mask an item of the queries takes more than the one before it, and an item of the keys less: so no
  // block has all the long ones.
  const auto head = static_cast<int>(a.causal ? item % heads : item / tiles);
  const auto tile = static_cast<int>(a.causal ? item / heads : item % tiles);
  const int first = tile * kOwn;
  const long long last = first + kOwn < a.S ? first + kOwn : a.S;  // behind the block's queries
  const long long seen = a.causal ? last + a.keys - a.S : a.keys;
  const int count = seen < 0 ? 0 : static_cast<int>((seen + kTile - 1) / kTile);
  return {head, first, head / static_cast<int>(a.group), 1, 0, count};
}

inline __device__ Work keys_at(const lse_backward_args& a, unsigned item) {
  const unsigned tiles = key_items(a), heads = static_cast<unsigned>(a.heads);
  const auto head = static_cast<int>(a.causal ? item % heads : item / tiles);
  const int first = static_cast<int>(a.causal ? item / heads : item % tiles) * kOwn;
  const long long seen_from = a.causal ? first - a.keys + a.S : 0;
  const int begin = seen_from < 0 ? 0 : static_cast<int>(seen_from / kTile) * kTile;
  const int count = begin < a.S ? static_cast<int>((a.S - begin + kTile - 1) / kTile) : 0;
  return {head, first, static_cast<int>(head * a.group), static_cast<int>(a.group), begin, count};
}

// By one thread: all copies of a block's work.
template <int kD, bool kKeys>
__device__ void copy_tiles(const lse_backward_args& a, const Work& work, Shared<kD>& shared, Ring<kStages>& ring,
                           unsigned& parity) {
  if (work.tiles == 0) {
    return;
  }
  wait(shared.own_empty, parity ^ 1);
  parity ^= 1;
  arrive_expecting(shared.own_full, sizeof(shared.own));
  for (int half = 0; half < kD / kHalf; ++half) {
    copy_tile(shared.own[half], map_of(a, kKeys), half * kHalf, work.first, work.head, shared.own_full);
  }
  for (int h = work.other_head; h < work.other_head + work.heads; ++h) {
    for (int tile = 0; tile < work.tiles; ++tile, ring.advance()) {
      Barrier& full = shared.full[ring.stage];
      wait(shared.empty[ring.stage], ring.parity ^ 1);
      arrive_expecting(full, sizeof(shared.tiles[0]));
      for (int half = 0; half < kD / kHalf; ++half) {
        copy_tile(shared.tiles[ring.stage][half], map_of(a, !kKeys), half * kHalf, work.row_of(tile), h, full);
      }
    }
  }
}

// By one warp: what the queries of a block of keys need, tile by tile. A block of queries needs nothing, but the
// barriers count the warp's arrivals.
template <int kD, bool kKeys>
__device__ void make_query_tiles(const lse_backward_args& a, const Work& work, Shared<kD>& shared,
                                 Ring<kStages>& ring) {
  for (int h = work.other_head; h < work.other_head + work.heads; ++h) {
    for (int tile = 0; tile < work.tiles; ++tile, ring.advance()) {
      const auto stage_is_empty = [&] { wait(shared.empty[ring.stage], ring.parity ^ 1); };
      if (kKeys) {
        make_query_tile(a, h, work.row_of(tile), shared.queries[ring.stage], stage_is_empty);
      } else {
        stage_is_empty();
      }
      arrive(shared.full[ring.stage]);
    }
  }
}

}  // namespace
