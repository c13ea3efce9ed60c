// apo:variant    e88_forward/cuda_half_sequences
// apo:target     cuda sm_80
// apo:technique  split-sequence
// apo:technique  register-owned
// apo:technique  merged-sums
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:technique  persistent-grid
// apo:parent     cuda_split_warps
// apo:idea       Where sequences fill the GPU, whole ones of 256 cycles of tanh a step divide badly: 10 on an SM are 3 on one of its four schedulers, halves are 5 on each. All warps of a block take steps and share the work before and after, and each block takes an equal stretch of all chunks.
// apo:predict    1.0x..1.05x over cuda_best: a scan had 0.303 ms beside 0.309 at b16_t512_h83_n32, where the machine code alone promises 0.22 (experiments/nvidia-h200/e88_floor.md).
// apo:requires   N == 32 && V == 32 && SMS*BLOCKS >= TOGETHER && B*H <= 2147483647 && T <= 2147483647
// apo:tune       COLUMNS 16
// apo:tune       UNROLL 2
// apo:tune       BLOCKS 8
// apo:tune       TOGETHER 8
// apo:scratch    handed 4096*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER)
// apo:scratch    ready 128/COLUMNS*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER)
// apo:launch     clear grid=TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER) block=32/COLUMNS
// apo:launch     forward grid=TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER) block=1024/COLUMNS
#include "e88_forward.args.h"
#include "lane_chunks.cuh"
#include "split_slices.cuh"
#include "split_steps.cuh"

namespace {

constexpr int kThreads = 32 * kWarps;
constexpr int kRowWords = kSegment * kSide / 8;       // of k or q in a chunk, eight entries each
constexpr int kKeyPasses = 2 * kRowWords / kThreads;  // words of k and q that a thread brings
constexpr int kColumnWords = COLUMNS / 8;             // of v, g and y in a step, of a warp

// The inputs of a chunk on their way from memory: k and q of all columns by the block, v of its own columns by a warp.
struct Coming {
  uint4 rows[kKeyPasses], v;
  bf16 decay;
};

// Where a thread works: word `pass` of k and q, and the word of its warp's columns.
struct Words {
  int thread, own_step, own_part;
  __device__ Words(const ColumnPlace& p)
      : thread(threadIdx.x), own_step(p.lane / kColumnWords), own_part(COLUMNS * p.warp + p.lane % kColumnWords * 8) {}
  __device__ bool is_key(int pass) const { return pass * kThreads + thread < kRowWords; }
  __device__ int step(int pass) const { return (pass * kThreads + thread) % kRowWords / (kSide / 8); }
  __device__ int part() const { return thread % (kSide / 8) * 8; }
  __device__ bool has_own(int steps) const { return own_step < min(steps, kSegment); }
};

// `row` is the chunk's first step in tensors [B,T,H,.].
__device__ void fetch(const e88_forward_args& a, const Words& z, long long row, int steps, Coming& in) {
#pragma unroll
  for (int pass = 0; pass < kKeyPasses; ++pass) {
    const int s = z.step(pass);
    in.rows[pass] = load_words((z.is_key(pass) ? a.k : a.q) + (row + s * a.H) * kSide + z.part(), s < steps);
  }
  in.v = load_words(a.v + (row + z.own_step * a.H) * kSide + z.own_part, z.has_own(steps));
  in.decay = z.thread < steps ? a.decay[row + z.thread * a.H] : bf16();
}

__device__ void deposit(const Coming& in, const Words& z, Chunk& chunk) {
#pragma unroll
  for (int pass = 0; pass < kKeyPasses; ++pass) {
    store_unit<kSide / 8>(in.rows[pass], &(z.is_key(pass) ? chunk.k : chunk.q)[z.step(pass)][z.part()]);
  }
  if (z.own_step < kSegment) {
    store_eight(unpack(in.v), &chunk.v[z.own_step][z.own_part]);
  }
  if (z.thread < kSegment) {
    chunk.decay[z.thread] = load(in.decay);
  }
}

__device__ void finish(const e88_forward_args& a, const Words& z, const Chunk& chunk, long long row, int steps) {
  if (z.has_own(steps)) {
    const long long at = (row + z.own_step * a.H) * kSide + z.own_part;
    const uint4 gates = kGATE ? *reinterpret_cast<const uint4*>(a.g + at) : uint4{};
    store_output<logistic>(a, sum_shares(&chunk.y[z.own_step + 1][z.own_part]), gates, at);
  }
}

// The steps of a chunk, for warps that wait for one another's use of the special-function unit and of shared memory,
// not for their own chain: y and the next retrieval are summed as tanh delivers, and each k^ is loaded once, as the one
// of the step before takes its place.
__device__ void take_steps(Chunk& chunk, const ColumnPlace& p, int steps, float (&S)[COLUMNS]) {
  float k[COLUMNS];
  load_rows(p, chunk.k[0], k);
  float retrieved = dot_of_rows(S, k);
#pragma unroll UNROLL
  for (int s = 0; s < steps; ++s) {
    const float delta = chunk.v[s][p.column] - sum_of_column(retrieved), decay = chunk.decay[s];
    const float* const next_k = chunk.k[min(s + 1, kSegment - 1)];
    float y[2] = {}, next[2] = {};
#pragma unroll
    for (int r = 0; r < COLUMNS; r += 4) {
      float q[4];
      load_four(&chunk.q[s][p.row(r)], q);
#pragma unroll
      for (int i = r; i < r + 4; ++i) {
        S[i] = fmaf(k[i], delta, decay * S[i]);
      }
      load_four(&next_k[p.row(r)], k + r);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        S[r + i] = tanh_approx(S[r + i]);
        y[i % 2] += S[r + i] * q[i];
        next[i % 2] += S[r + i] * k[r + i];
      }
    }
    retrieved = next[0] + next[1];
    leave_share(chunk, p, s + 1, y[0] + y[1]);
  }
}

// The chunks begin..end-1 of a sequence.
__device__ void take_chunks(const e88_forward_args& a, Chunk (&chunks)[2], const ColumnPlace& p, long long sequence,
                            int begin, int end, float (&S)[COLUMNS]) {
  const Words z(p);
  const long long first_row = sequence / a.H * a.T * a.H + sequence % a.H;
  const auto row_of = [&](int chunk) { return first_row + static_cast<long long>(chunk) * kSegment * a.H; };
  const auto steps_of = [&](int chunk) { return min(kSegment, static_cast<int>(a.T) - chunk * kSegment); };
  Coming in;
  fetch(a, z, row_of(begin), steps_of(begin), in);
  deposit(in, z, chunks[begin % 2]);
#pragma unroll 1
  for (int turn = begin; turn < end; ++turn) {
    __syncthreads();  // the chunk is whole, and nobody is in the other one
    if (turn + 1 < end) {
      fetch(a, z, row_of(turn + 1), steps_of(turn + 1), in);
    }
    store_own(p, S, a.checkpoints + (turn * a.B * a.H + sequence) * kState);
    take_steps(chunks[turn % 2], p, steps_of(turn), S);
    if (turn + 1 < end) {
      deposit(in, z, chunks[(turn + 1) % 2]);
    }
    __syncwarp();
    finish(a, z, chunks[turn % 2], row_of(turn), steps_of(turn));
  }
  __syncthreads();
}

}  // namespace

extern "C" __global__ void clear(const e88_forward_args a) {
  clear_flag(a.ready);
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS) forward(const e88_forward_args a) {
  alignas(16) __shared__ Chunk chunks[2];  // one is stepped through while the next one is on its way
  const ColumnPlace p(uniform_warp(), threadIdx.x % 32);
  const int last = static_cast<int>((a.T - 1) / kSegment);
  Piece piece;
#pragma unroll 1
  for (int turn = 0; take_piece(a, turn, piece); ++turn) {
    if (piece.sequence >= a.B * a.H) {
      continue;
    }
    const long long own = piece.sequence * kState;
    float S[COLUMNS];
    if (piece.is_begun) {
      await_rows(a, p, S);
    } else {
      load_own(p, a.s0 + own, S);
    }
    take_chunks(a, chunks, p, piece.sequence, last - piece.from, last - piece.to + 1, S);
    if (piece.is_left) {
      leave_rows(a, p, S);
    } else {
      store_own(p, S, a.s_final + own);
    }
  }
}
