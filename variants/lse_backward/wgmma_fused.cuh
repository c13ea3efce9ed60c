// variants/lse_backward/wgmma_fused.cuh - dk of a block's 128 keys by wgmma, and from the same weights what these keys
// give to dq.
//
// The weights of a tile, with dlse in them, go to shared memory, where the keys are the rows for dk, and for dq the
// queries. What a block of keys gives to dq is added by atomics to fp32 sums that lie as a warpgroup holds them: the four
// sums i of thread t of consumer c at [tile][c][i][t], so that a warp adds 512 bytes that follow one another.
#pragma once
#include "wgmma_tiles.cuh"

namespace {

template <int kD>
struct FusedShared : Shared<kD> {
  alignas(1024) bf16 weights[2][kTile / kHalf][kOwn][kHalf];  // of two tiles: half of the queries, key, query
};

inline __device__ long long query_tiles(const lse_backward_args& a) {
  return (a.S + kTile - 1) / kTile;
}

// Where a thread's sums of a tile of queries lie, 128 apart.
template <int kD>
__device__ float4* sums_of(const lse_backward_args& a, long long tile, int consumer) {
  return static_cast<float4*>(a.sums) + (tile * kConsumers + consumer) * (16 * kD) + threadIdx.x % 128;
}

template <int kD>
struct FusedConsumer : Consumer<kD, true> {
  using Base = Consumer<kD, true>;
  using Base::a;
  using Base::scores;
  using Base::sums;
  using Base::turns;

  FusedShared<kD>& shared;
  float query_sums[kD / 2];

  __device__ FusedConsumer(const lse_backward_args& args, FusedShared<kD>& of_block, int consumer)
      : Base(args, of_block, consumer), shared(of_block) {}

  // The consumer's 64 keys with all queries of the tile.
  __device__ void start_key_sums(int stage, int buffer) {
    const unsigned long long left = descriptor(shared.weights[buffer][0][turns.consumer * 64], 0);
    const unsigned long long right = descriptor(shared.tiles[stage], sizeof(shared.tiles[0][0]));
#pragma unroll
    for (int k = 0; k < kTile / 16; ++k) {
      const int half = k / 4 * (sizeof(shared.weights[0][0]) / 16);
      wgmma<false, false>(sums, left + half + k % 4 * 2, right + k * kRows16, true);
    }
    commit_products();
  }

  // 64 queries of the tile with all keys of the block.
  __device__ void start_query_sums(int buffer) {
    const unsigned long long left = descriptor(shared.weights[buffer][turns.consumer], 0);
    const unsigned long long right = descriptor(shared.own, sizeof(shared.own[0]));
#pragma unroll
    for (int k = 0; k < kOwn / 16; ++k) {
      wgmma<true, false>(query_sums, left + k * kRows16, right + k * kRows16, k > 0);
    }
    commit_products();
  }

  __device__ void give_query_sums(float4* to) const {
#pragma unroll
    for (int i = 0; i < kD / 8; ++i) {
      asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + 128 * i),
                   "f"(query_sums[4 * i]), "f"(query_sums[4 * i + 1]), "f"(query_sums[4 * i + 2]),
                   "f"(query_sums[4 * i + 3])
                   : "memory");
    }
  }

  __device__ void weigh_tile(const Work& work, int at, const QueryTile& queries) {
    const int t = threadIdx.x % 4;
    this->weigh([&](int s) {
      const float2 pair = *reinterpret_cast<const float2*>(&queries.offsets[s / 4 * 8 + 2 * t]);
      return s % 2 ? pair.y : pair.x;
    });
    this->signs = queries.signs[t];
    if (this->has_masks(work, at)) {
      this->hide(work, at);
    }
    if (work.first + kOwn > a.keys) {
      hide_keys_beyond(static_cast<int>(a.keys) - work.first);
    }
  }

  // Their keys are zeros, but a weight may be infinite.
  __device__ void hide_keys_beyond(int count) {
#pragma unroll
    for (int s = 0; s < kTile / 2; ++s) {
      if (this->own_row() + s / 2 % 2 * 8 >= count) {
        scores[s] = 0;
      }
    }
  }

  // As bf16 to `buffer`, which both consumers have when they leave.
  __device__ void hand_over_weights(int buffer) {
    const int lane = threadIdx.x % 32;
    const int row = turns.consumer * 64 + threadIdx.x / 32 % 4 * 16 + lane % 16;
#pragma unroll
    for (int n = 0; n < kTile / 8; n += 2) {
      const int unit = (n + lane / 16) % 8 ^ row % 8;  // of 16 bytes, where the swizzle puts it
      unsigned words[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        words[w] = this->round_weight(2 * n + w);
      }
      store_blocks(shared_address(&shared.weights[buffer][n / 8][row][8 * unit]), words);
    }
    publish_to_products();
    meet(1, 128 * kConsumers);
  }

  // While the last tile is added to both sums, the next one's weights are made; dq's sums of the tile before the last
  // one leave while the next one's scores are made.
  __device__ void add_tiles(const Work& work, Ring<kStages>& ring) {
    wait(shared.full[ring.stage], ring.parity);
    begin_products();
    this->start_scores(ring.stage);
    wait_for_products<0>();
    hold(scores);
    weigh_tile(work, work.row_of(0), shared.queries[ring.stage]);
    hand_over_weights(0);
    const long long tiles = query_tiles(a);
    long long last_tile = work.other_head * tiles + work.row_of(0) / kTile;
    float4* to = nullptr;
    const int count = work.tiles * work.heads;
    for (int n = 1, tile = 1, head = work.other_head; n < count; ++n, ++tile) {
      if (tile == work.tiles) {
        tile = 0;
        ++head;
      }
      const int last = ring.stage;
      ring.advance();
      wait(shared.full[ring.stage], ring.parity);
      hold(scores);
      hold(sums);
      begin_products();
      this->start_scores(ring.stage);
      if (n > 1) {
        give_query_sums(to);
      }
      hold(query_sums);
      begin_products();
      start_key_sums(last, (n - 1) % 2);
      start_query_sums((n - 1) % 2);
      to = sums_of<kD>(a, last_tile, turns.consumer);
      last_tile = head * tiles + work.row_of(tile) / kTile;
      wait_for_products<2>();
      hold(scores);
      weigh_tile(work, work.row_of(tile), shared.queries[ring.stage]);
      wait_for_products<0>();
      hold(sums);
      hold(query_sums);
      arrive(shared.empty[last]);
      hand_over_weights(n % 2);
    }
    if (count > 1) {
      give_query_sums(to);
    }
    hold(sums);
    hold(query_sums);
    begin_products();
    start_key_sums(ring.stage, (count - 1) % 2);
    start_query_sums((count - 1) % 2);
    wait_for_products<0>();
    hold(sums);
    hold(query_sums);
    arrive(shared.own_empty);
    arrive(shared.empty[ring.stage]);
    give_query_sums(sums_of<kD>(a, last_tile, turns.consumer));
    meet(1, 128 * kConsumers);  // both have read the weights before the next work's are written
    ring.advance();
  }

  __device__ void consume(const Work& work, Ring<kStages>& ring, unsigned& parity) {
#pragma unroll
    for (int i = 0; i < kD / 2; ++i) {
      sums[i] = 0;
    }
    if (work.tiles > 0) {
      wait(shared.own_full, parity);
      parity ^= 1;
      add_tiles(work, ring);
    }
    const float factor[2] = {a.scale, a.scale};
    const long long at = work.head * a.keys + work.first;
    store_sums<kD>(sums, factor, a.dk + at * a.D, this->own_row(), a.keys - work.first, a.D);
  }
};

// Blocks of one head begin with different tiles of queries, so that they do not add to the same sums at the same time.
inline __device__ Work fused_keys_at(const lse_backward_args& a, unsigned item) {
  Work work = keys_at(a, item);
  work.turn = work.tiles > 0 ? work.first / kOwn % work.tiles : 0;
  return work;
}

template <int kD>
__device__ void fused_work(const lse_backward_args& a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<FusedShared<kD>*>(memory);
  begin_block<kD>(a, shared);
  const auto items = static_cast<unsigned>(a.heads * ((a.keys + kOwn - 1) / kOwn));
  Ring<kStages> ring;
  unsigned parity = 0;
  const int warp = __shfl_sync(kAll, threadIdx.x / 32, 0);
  if (warp < 4) {
    keep_registers<24>();
    if (threadIdx.x == 0) {
      acquire_maps(a);
      for (unsigned item = blockIdx.x; item < items; item += gridDim.x) {
        copy_tiles<kD, true>(a, fused_keys_at(a, item), shared, ring, parity);
      }
    } else if (warp == 1) {
      for (unsigned item = blockIdx.x; item < items; item += gridDim.x) {
        make_query_tiles<kD, true>(a, fused_keys_at(a, item), shared, ring);
      }
    }
  } else {
    take_registers<240>();
    for (unsigned item = blockIdx.x; item < items; item += gridDim.x) {
      FusedConsumer<kD>(a, shared, warp / 4 - 1).consume(fused_keys_at(a, item), ring, parity);
    }
  }
}

template <int kD>
__device__ void finish_queries(const lse_backward_args& a) {
  const float factor[2] = {a.scale, a.scale};
  const int consumer = threadIdx.x / 128, row = row_of_thread(consumer);
  const long long tiles = query_tiles(a);
  for (long long tile = blockIdx.x; tile < a.heads * a.group * tiles; tile += gridDim.x) {
    const float4* from = sums_of<kD>(a, tile, consumer);
    float sums[kD / 2];
#pragma unroll
    for (int i = 0; i < kD / 8; ++i) {
      const float4 four = from[128 * i];
      sums[4 * i] = four.x;
      sums[4 * i + 1] = four.y;
      sums[4 * i + 2] = four.z;
      sums[4 * i + 3] = four.w;
    }
    const long long first = tile % tiles * kTile;
    store_sums<kD>(sums, factor, a.dq + (tile / tiles * a.S + first) * a.D, row, a.S - first, a.D);
  }
}

}  // namespace
