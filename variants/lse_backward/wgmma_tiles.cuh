// variants/lse_backward/wgmma_tiles.cuh - 128 queries or keys of a block against tiles of the others, by wgmma.
//
// A tile is multiplied twice where it lies: its rows with the block's for the scores, and then the weights, which have
// stayed in registers, with it for the sums. So dq and dk are the same loop; they differ in whose rows are whose and in
// where lse and dlse stand.
#pragma once
#include "wgmma_work.cuh"

namespace {

// The consumers take turns at starting products, so that one multiplies while the other is at its exponentials.
struct Turns {
  int consumer;

  __device__ void take() const {
    if (TURNS) {
      meet(1 + consumer, 128 * kConsumers);
    }
  }
  __device__ void give() const {
    if (TURNS) {
      pass(2 - consumer, 128 * kConsumers);
    }
  }
};

// Word i of lane t of four goes to word t of lane i: of 2 x 2 blocks, and then within them.
inline __device__ void transpose(unsigned (&words)[4], int t) {
#pragma unroll
  for (int step = 2; step > 0; step /= 2) {
    const bool upper = t & step;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & step) == 0) {
        const unsigned theirs = __shfl_xor_sync(kAll, upper ? words[i] : words[i + step], step);
        (upper ? words[i] : words[i + step]) = theirs;
      }
    }
  }
}

// Of a warpgroup's 64 x kD sums, scaled, as bf16, to those rows of `to` that exist: this thread's are `row` and the
// 8th after it. A thread's pairs of columns change places with those of the other three that share its rows, so that
// each stores 8 columns at once.
template <int kD>
__device__ void store_sums(const float (&sums)[kD / 2], const float (&factor)[2], bf16* to, int row, long long rows,
                           long long columns) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < kD / 8; n += 4) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      unsigned pairs[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        pairs[i] = pack(factor[r] * sums[4 * (n + i) + 2 * r], factor[r] * sums[4 * (n + i) + 2 * r + 1]);
      }
      transpose(pairs, t);
      const int at = row + 8 * r, column = 8 * (n + t);
      if (at < rows && column < columns) {
        *reinterpret_cast<uint4*>(to + at * columns + column) = {pairs[0], pairs[1], pairs[2], pairs[3]};
      }
    }
  }
}

inline __device__ float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// This thread's first row of the block's 128; its second one is 8 further.
inline __device__ int row_of_thread(int consumer) {
  return consumer * 64 + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
}

// One of the two warpgroups that multiply; it owns 64 of the block's rows.
template <int kD, bool kKeys>
struct Consumer {
  const lse_backward_args& a;
  Shared<kD>& shared;
  Turns turns;
  float sums[kD / 2];
  float scores[kTile / 2];
  unsigned weights[kTile / 4];
  float offsets[kKeys ? kTile / 4 : 2];  // of the thread's columns, or of its rows
  unsigned signs = 0;

  __device__ Consumer(const lse_backward_args& args, Shared<kD>& of_block, int consumer)
      : a(args), shared(of_block), turns{consumer} {}

  __device__ int own_row() const { return row_of_thread(turns.consumer); }

  __device__ void start_scores(int stage) {
    const unsigned long long own = descriptor(shared.own[0][turns.consumer * 64], 0);
    const unsigned long long tile = descriptor(shared.tiles[stage], 0);
#pragma unroll
    for (int d = 0; d < kD / 16; ++d) {
      const int column = d % 4 * 2;  // 16 columns are two units of 16 bytes
      wgmma<false, true>(scores, own + d / 4 * (sizeof(shared.own[0]) / 16) + column,
                         tile + d / 4 * (sizeof(shared.tiles[0][0]) / 16) + column, d > 0);
    }
    commit_products();
  }

  __device__ void start_sums(int stage) {
    const unsigned long long tile = descriptor(shared.tiles[stage], sizeof(shared.tiles[0][0]));
#pragma unroll
    for (int k = 0; k < kTile / 16; ++k) {
      wgmma(sums, weights + 4 * k, tile + k * kRows16);
    }
    commit_products();
  }

  // Before the scores are there, which hides the loads.
  __device__ void load_offsets(int stage) {
    if constexpr (kKeys) {
      const QueryTile& queries = shared.queries[stage];
      const int t = threadIdx.x % 4;
#pragma unroll
      for (int n = 0; n < kTile / 8; ++n) {
        const float2 pair = *reinterpret_cast<const float2*>(&queries.offsets[8 * n + 2 * t]);
        offsets[2 * n] = pair.x;
        offsets[2 * n + 1] = pair.y;
      }
      signs = queries.signs[t];
      hold(offsets);
    }
  }

  __device__ float offset_of(int s) const {
    return offsets[kKeys ? s / 4 * 2 + s % 2 : s / 2 % 2];
  }

  // From scores to weights: `offset` of the score's number is added in powers of 2.
  template <class Offset>
  __device__ void weigh(Offset offset) {
    if (a.cap == 0) {
      const float scale2 = a.scale * kLog2e;
#pragma unroll
      for (int s = 0; s < kTile / 2; ++s) {
        scores[s] = power_of_2(fmaf(scores[s], scale2, offset(s)));
      }
    } else {
      const auto cap = static_cast<float>(a.cap);
      const float of_cap = a.scale / cap;
#pragma unroll
      for (int s = 0; s < kTile / 2; ++s) {
        const float bent = tanhf(scores[s] * of_cap);
        scores[s] = power_of_2(fmaf(cap * bent, kLog2e, offset(s))) * (1 - bent * bent);
      }
    }
  }

  // Of the block's own rows those beyond the last one are not stored, and queries that pass by beyond it weigh nothing.
  __device__ bool has_masks(const Work& work, int at) const {
    const int i = kKeys ? at : work.first, last = kKeys ? work.first + kOwn - 1 : at + kTile - 1;  // key
    return a.segments || (!kKeys && last >= a.keys) || (a.causal && last > i + a.keys - a.S);
  }

  __device__ void hide(const Work& work, int at) {
    const int queries = static_cast<int>(a.S), keys = static_cast<int>(a.keys);  // at most 2^20
    const int last_of_first = a.causal ? keys - queries : keys;                  // the last key that query 0 sees
    const int first_column = at + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int s = 0; s < kTile / 2; ++s) {
      const int own = work.first + own_row() + s / 2 % 2 * 8;
      const int bound = (kKeys ? own - last_of_first : min(own + last_of_first, keys - 1)) - first_column;
      const int column = s / 4 * 8 + s % 2;
      if (kKeys ? column < bound : column > bound) {
        scores[s] = 0;
      }
    }
    if (a.segments) {
      hide_other_segments(work, first_column);
    }
  }

  __device__ void hide_other_segments(const Work& work, int first_column) {
#pragma unroll
    for (int s = 0; s < kTile / 2; ++s) {
      const int own = work.first + own_row() + s / 2 % 2 * 8, other = first_column + s / 4 * 8 + s % 2;
      const int i = kKeys ? other : own, j = kKeys ? own : other;
      if (i >= a.S || j >= a.keys || a.k_segment[j] != a.q_segment[i]) {
        scores[s] = 0;
      }
    }
  }

  // The weights stay in fp32 until the products that use the last tile's weights are done.
  __device__ void weigh_tile(const Work& work, int at) {
    weigh([&](int s) { return offset_of(s); });
    if (has_masks(work, at)) {
      hide(work, at);
    }
  }

  // Two neighbours, with the signs of their dlse.
  __device__ unsigned round_weight(int w) const {
    const unsigned pair = pack(scores[2 * w], scores[2 * w + 1]);
    return kKeys ? pair ^ (signs << w / 2 & 0x80008000u) : pair;
  }

  // The layout of a result's row is that of the next product's left operand.
  __device__ void round_weights() {
#pragma unroll
    for (int w = 0; w < kTile / 4; ++w) {
      weights[w] = round_weight(w);
    }
  }

  // While the last tile is added to the sums, the next one's weights are made. Every thread arrives for itself:
  // racecheck does not see that a lane speaks for its warp.
  __device__ void add_tiles(const Work& work, Ring<kStages>& ring) {
    wait(shared.full[ring.stage], ring.parity);
    turns.take();
    begin_products();
    start_scores(ring.stage);
    turns.give();
    load_offsets(ring.stage);
    wait_for_products<0>();
    hold(scores);
    weigh_tile(work, work.begin);
    round_weights();
    const int count = work.tiles * work.heads;
    for (int n = 1, tile = 1; n < count; ++n, ++tile) {
      if (tile == work.tiles) {
        tile = 0;
      }
      const int last = ring.stage;
      ring.advance();
      wait(shared.full[ring.stage], ring.parity);
      turns.take();
      hold(scores);
      hold(weights);
      hold(sums);
      begin_products();
      start_scores(ring.stage);
      start_sums(last);
      turns.give();
      load_offsets(ring.stage);
      wait_for_products<1>();
      hold(scores);
      weigh_tile(work, work.begin + tile * kTile);
      wait_for_products<0>();
      hold(sums);
      hold(weights);
      arrive(shared.empty[last]);
      round_weights();
    }
    arrive(shared.own_empty);
    hold(weights);
    hold(sums);
    begin_products();
    start_sums(ring.stage);
    wait_for_products<0>();
    hold(sums);
    hold(weights);
    arrive(shared.empty[ring.stage]);
    ring.advance();
  }

  // `complete` makes the sums of the work those of the item, or says that another block will.
  template <class Complete>
  __device__ void consume(const Work& work, Ring<kStages>& ring, unsigned& parity, Complete complete) {
    float factor[2] = {a.scale, a.scale};
    const long long rows = kKeys ? a.keys : a.S, at = work.head * rows + work.first;
    if constexpr (!kKeys) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = own_row() + 8 * r;
        offsets[r] = work.first + row < a.S ? -kLog2e * a.lse[at + row] : 0;
        factor[r] *= work.first + row < a.S ? a.dlse[at + row] : 0;
      }
    }
#pragma unroll
    for (int i = 0; i < kD / 2; ++i) {
      sums[i] = 0;
    }
    if (work.tiles > 0) {
      wait(shared.own_full, parity);
      parity ^= 1;
      add_tiles(work, ring);
    }
    if (complete(sums)) {
      store_sums<kD>(sums, factor, (kKeys ? a.dk : a.dq) + at * a.D, own_row(), rows - work.first, a.D);
    }
  }
};

// Barriers, and the block's maps of q and k.
template <int kD>
__device__ void begin_block(const lse_backward_args& a, Shared<kD>& shared) {
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    init_barrier(shared.own_full, 1);
    init_barrier(shared.own_empty, kConsumers * 128);
    for (int stage = 0; stage < kStages; ++stage) {
      init_barrier(shared.full[stage], 1 + 32);
      init_barrier(shared.empty[stage], kConsumers * 128);
    }
    publish_barriers();
  }
  if (warp < 2) {
    const bool is_keys = warp == 1;
    const Matrices from{is_keys ? a.k : a.q, is_keys ? a.heads : a.heads * a.group, is_keys ? a.keys : a.S, a.D};
    make_tensor_map(map_of(a, is_keys), shared.maps[is_keys], from, kTile);
  }
  __syncthreads();
}

inline __device__ void acquire_maps(const lse_backward_args& a) {
  acquire_tensor_map(map_of(a, false));
  acquire_tensor_map(map_of(a, true));
}

}  // namespace
