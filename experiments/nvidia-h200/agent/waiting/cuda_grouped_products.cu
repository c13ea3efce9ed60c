// apo:variant    e88_backward/cuda_grouped_products
// apo:target     cuda sm_80
// apo:technique  grouped-loads
// apo:technique  tensor-core
// apo:technique  parked-sums
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:technique  multi-head
// apo:parent     cuda_best
// apo:idea       As cuda_grouped_again; its replays, one and a half a step, retrieve by fp16 products of the words that the history keeps, and sums of dq and dk are parked in that history.
// apo:predict    1.15x..1.30x over parent: 174 instructions a replayed step where 193 are in cuda_grouped_again (1.142x), and 402 a reverse step where 445 are: some 55 of 820 a step.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647 && SEQUENCES*BLOCKS <= 8
// apo:tune       SEQUENCES 1,2
// apo:tune       BLOCKS 8,4
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "product_steps.cuh"

namespace {

// What a warp keeps in shared memory for half a segment.
struct Work {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it; then parts of dq^ and dk^
  float k[kHalf][kSide];
  alignas(16) float q[kHalf][kSide];  // while steps are replayed: k^ in fp16
  float dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
  __device__ HalfVector* units() { return reinterpret_cast<HalfVector*>(q); }
};
static_assert(sizeof(HalfVector) == sizeof(float[kSide]));

// Inputs of eight steps on their way from memory, eight elements a lane.
struct Keys {
  uint4 k, v;
  float decay;
};

struct Others {
  uint4 q, dy, g, y;
};

__device__ Keys fetch_keys(const e88_backward_args& a, const Slice& z) {
  return {load_words(a.k + z.at, z.there), load_words(a.v + z.at, z.there), z.there ? load(a.decay[z.row]) : 0.0f};
}

__device__ Others fetch_others(const e88_backward_args& a, const Slice& z) {
  return {load_words(a.q + z.at, z.there), load_words(a.d_output + z.at, z.there),
          load_words(a.g + z.at, z.there && kGATE), load_words(a.y_cache + z.at, z.there && kGATE)};
}

__device__ void deposit(const Keys& in, Work& w, const Slice& z) {
  Eight k = unpack(in.k);
  w.k_factor[z.step] = normalise(k);
  store_eight(k, &w.k[z.step][z.part]);
  w.units()[z.step].store(k, z.part);
  store_eight(unpack(in.v), &w.delta[z.step][z.part]);
  w.decay[z.step] = in.decay;
}

// q^, dy = d_output * silu(g), and dg = d_output * y * silu'(g)
__device__ void deposit(const e88_backward_args& a, const Others& in, Work& w, const Slice& z) {
  Eight q = unpack(in.q), dy = unpack(in.dy), dg = {};
  w.q_factor[z.step] = normalise(q);
  store_eight(q, &w.q[z.step][z.part]);
  if (kGATE) {
    const Eight g = unpack(in.g), y = unpack(in.y);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float sigmoid = logistic(g.x[i]);
      dg.x[i] = dy.x[i] * y.x[i] * sigmoid * (1.0f + g.x[i] * (1.0f - sigmoid));
      dy.x[i] *= g.x[i] * sigmoid;
    }
  }
  store_eight(dy, &w.dy[z.step][z.part]);
  store_eight(dg, a.dg + z.at, z.there);
}

// A state on its way from memory.
struct RawTile {
  uint2 rows[8];
};

__device__ RawTile fetch_tile(const RowPlace& p, const bf16* from) {
  RawTile raw;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    raw.rows[r] = *reinterpret_cast<const uint2*>(from + p.row(r) * kSide + p.first_column());
  }
  return raw;
}

__device__ void unpack(const RawTile& raw, Tile& S) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    S[r][0] = low(raw.rows[r].x);
    S[r][1] = high(raw.rows[r].x);
    S[r][2] = low(raw.rows[r].y);
    S[r][3] = high(raw.rows[r].y);
  }
}

// Leaves S_{t-1} and delta of each step in shared memory where it `keeps`.
__device__ void replay(Work& w, const RowPlace& p, int steps, bool keeps, Tile& S) {
  replay_products(w, w.units(), p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
    if (keeps) {
      keep_packed(w.history[s], w.delta[s], p, states, delta);
    }
  });
}

__device__ void reverse(Work& w, const RowPlace& p, int steps, Tile& S, Tile& D) {
#pragma unroll 1
  for (int s = steps - 1; s >= 0; --s) {
    Packed before;
    load_packed(w.history[s], p.lane, before);
    reverse_parked(w, p, s, before, S, D);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES, BLOCKS) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  Work& w = reinterpret_cast<Work*>(shared)[threadIdx.x / 32];
  const RowPlace p(threadIdx.x);
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 32, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  Tile S, D;
  load_tile(p, a.d_s_final + sequence * kState, D);
  const long long last = (a.T - 1) / kSegment * kSegment;
  const auto slice_of = [&](long long first) {
    return Slice(a, p.lane, (b * a.T + first) * a.H + h, min(static_cast<long long>(kHalf), a.T - first));
  };
  const auto checkpoint = [&](long long first) {
    return a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
  };
  RawTile raw = fetch_tile(p, checkpoint(last));
  Keys keys = fetch_keys(a, slice_of(last));
  Others others;
  for (long long first = last; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    if (first > 0) {
      prefetch_segment(a, p.lane, (b * a.T + first - kSegment) * a.H + h, checkpoint(first - kSegment));
    }
    // Shared memory holds the states of half a segment; those of the lower half are replayed again.
    const int top = steps > kHalf ? 1 : 0;
#pragma unroll 1
    for (int half = top; half >= 0; --half) {
      const int count = min(kHalf, steps - half * kHalf);
      const Slice slice = slice_of(first + half * kHalf);
      unpack(raw, S);
#pragma unroll 1
      for (int part = 0; part <= half; ++part) {
        deposit(keys, w, slice_of(first + part * kHalf));
        __syncwarp();
        if (part < half) {
          keys = fetch_keys(a, slice);
        } else {
          others = fetch_others(a, slice);
        }
        replay(w, p, min(kHalf, steps - part * kHalf), part == half, S);
        __syncwarp();
      }
      deposit(a, others, w, slice);
      __syncwarp();
      reverse(w, p, count, S, D);
      __syncwarp();
      const long long next = half > 0 ? first : first - kSegment;
      if (next >= 0) {
        raw = fetch_tile(p, checkpoint(next));
        keys = fetch_keys(a, slice_of(next));
      }
      finish_parked(a, w, p.lane, slice);
      __syncwarp();
    }
  }
  store_tile(p, D, a.ds0 + sequence * kState);
}
