// apo:variant    e88_forward/cuda_wide_tiling
// apo:target     cuda sm_80
// apo:technique  lane-tiling
// apo:technique  column-warps
// apo:technique  chunk-prefetch
// apo:technique  reduce-scatter
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_split_column
// apo:idea       States of 64 or 128 rows in the registers of one block: a warp owns whole columns, a lane eight rows of COLUMNS of them, and only k^ and q^ are shared: one barrier in 16 steps.
// apo:predict    2x..5x over parent: the special-function unit's 1024 cycles a step of an SM at N=V=128 bind, which is 0.27 ms at b4_t512_h32_n128.
// apo:requires   (N == 64 && V % 32 == 0 || N == 128 && V % 16 == 0) && 256*N + 64*V + 256*N*ceil_div(V,64) + 128 <= SHARED_MAX && BLOCKS*N*V/(8*COLUMNS) <= 768 && B*H <= 2147483647
// apo:tune       COLUMNS 4,8
// apo:tune       BLOCKS 1,5,6
// apo:launch     forward grid=B*H block=N*V/(8*COLUMNS) shared=256*N + 64*V + 256*N*ceil_div(V,64) + 128
#include "e88_forward.args.h"
#include "e88_wide.cuh"
#include "lane_chunks.cuh"

namespace {

constexpr int kTileRows = 8, kTileColumns = COLUMNS;   // of the state, in the registers of a lane
constexpr int kWidth = 32 / kRowLanes * kTileColumns;  // columns of a warp
constexpr int kThreads = 32 * kColumns / kWidth;
constexpr int kRowSlices = kSegment * kRows / 8,
              kBlockRowPasses = (kRowSlices + kThreads - 1) / kThreads;                              // of a block
constexpr int kColumnSlices = kSegment * kWidth / 8, kWarpColumnPasses = (kColumnSlices + 31) / 32;  // of a warp
constexpr int kStride = (kColumns + 63) / 64 * 64;  // of a state on its way to memory; a power of two

using Tile = float[kTileRows][kTileColumns];

// k^, q^ and a of a chunk, for all warps.
struct Rows {
  alignas(16) float k[kSegment][kRows];
  alignas(16) float q[kSegment][kRows];
  float decay[kSegment];
};

// v of a warp's columns, whose place delta takes and then y.
using Columns = float[kSegment][kWidth];

// What a block keeps in shared memory. Two of what all warps share: for warps that are done with a chunk, the next
// one's.
struct Work {
  bf16 state[2][kRows * kStride];
  Columns columns[kThreads / 32];
  Rows rows[2];
};

// The inputs of a chunk on their way from memory: eight neighbours a word group.
struct BlockInputs {
  uint4 k[kBlockRowPasses], q[kBlockRowPasses], v[kWarpColumnPasses], g[kWarpColumnPasses];
  float decay;
};

// A lane owns four neighbouring rows of each half of the state, so that its loads of k and q meet all banks, and
// neighbouring columns, the first of which is `column` of its warp.
struct Place {
  static constexpr int kRowLanes = ::kRowLanes;  // that share a column
  int lane, group, first_column, column;
  __device__ explicit Place(int thread)
      : lane(thread % 32),
        group(lane % kRowLanes),
        first_column(thread / 32 * kWidth),
        column(lane / kRowLanes * kTileColumns) {}
  __device__ int row(int r) const { return r / 4 * (kRows / 2) + 4 * group + r % 4; }
};

// Where a thread works before and after the recurrence: elements part..part+7 of step `step` of rows of `width`.
struct Slice {
  int step, part;
  __device__ Slice(int index, int width) : step(index / (width / 8)), part(index % (width / 8) * 8) {}
};

__device__ Slice row_slice(int pass) {
  return Slice(pass * kThreads + threadIdx.x, kRows);
}

__device__ Slice column_slice(const Place& p, int pass) {
  return Slice(pass * 32 + p.lane, kWidth);
}

// Of the chunk whose first step is `row` of tensors [B,T,H,.].
__device__ void fetch(const e88_forward_args& a, const Place& p, BlockInputs& in, long long row, int steps) {
#pragma unroll
  for (int pass = 0; pass < kBlockRowPasses; ++pass) {
    const Slice z = row_slice(pass);
    const long long at = (row + z.step * a.H) * kRows + z.part;
    in.k[pass] = z.step < steps ? *reinterpret_cast<const uint4*>(a.k + at) : uint4{};
    in.q[pass] = z.step < steps ? *reinterpret_cast<const uint4*>(a.q + at) : uint4{};
  }
#pragma unroll
  for (int pass = 0; pass < kWarpColumnPasses; ++pass) {
    const Slice z = column_slice(p, pass);
    const long long at = (row + z.step * a.H) * kColumns + p.first_column + z.part;
    in.v[pass] = z.step < steps ? *reinterpret_cast<const uint4*>(a.v + at) : uint4{};
    in.g[pass] = kGATE && z.step < steps ? *reinterpret_cast<const uint4*>(a.g + at) : uint4{};
  }
  const int step = threadIdx.x;
  in.decay = step < steps ? load(a.decay[row + step * a.H]) : 0.0f;
}

__device__ void deposit(const Place& p, const BlockInputs& in, Rows& rows, Columns& columns) {
#pragma unroll
  for (int pass = 0; pass < kBlockRowPasses; ++pass) {
    const Slice z = row_slice(pass);
    if (z.step < kSegment) {  // the same for a whole warp
      store_unit<kRowLanes>(in.k[pass], &rows.k[z.step][z.part]);
      store_unit<kRowLanes>(in.q[pass], &rows.q[z.step][z.part]);
    }
  }
#pragma unroll
  for (int pass = 0; pass < kWarpColumnPasses; ++pass) {
    const Slice z = column_slice(p, pass);
    if (z.step < kSegment) {
      store_eight(unpack(in.v[pass]), &columns[z.step][z.part]);
    }
  }
  if (threadIdx.x < kSegment) {
    rows.decay[threadIdx.x] = in.decay;
  }
}

// y_cache and the gated output of a chunk, 16 bytes a lane.
__device__ void finish(const e88_forward_args& a, const Place& p, const Columns& columns,
                       const uint4 (&gates)[kWarpColumnPasses], long long row, int steps) {
#pragma unroll
  for (int pass = 0; pass < kWarpColumnPasses; ++pass) {
    const Slice z = column_slice(p, pass);
    if (z.step >= steps) {
      continue;
    }
    store_output<logistic_by_division>(a, load_eight(&columns[z.step][z.part]), gates[pass],
                                       (row + z.step * a.H) * kColumns + p.first_column + z.part);
  }
}

__device__ void load_columns(const float* from, float (&x)[kTileColumns]) {
#pragma unroll
  for (int c = 0; c < kTileColumns; c += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + c);
    x[c] = four.x;
    x[c + 1] = four.y;
    x[c + 2] = four.z;
    x[c + 3] = four.w;
  }
}

// What a step retrieves is summed during the one before, as soon as tanh delivers.
__device__ void recur(const Rows& rows, Columns& columns, const Place& p, int steps, Tile& S) {
  Eight k = load_rows(p, rows.k[0]);
  float retrieved[kTileColumns] = {};
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      retrieved[c] += S[r][c] * k.x[r];
    }
  }
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    const float sum = sum_of_column(p, retrieved);
    if (speaks<kTileColumns>(p)) {
      columns[s][owned<kTileColumns>(p)] -= sum;
    }
    const Eight q = load_rows(p, rows.q[s]), next_k = load_rows(p, rows.k[min(s + 1, kSegment - 1)]);
    const float decay = rows.decay[s];
    __syncwarp();  // delta is there
    float delta[kTileColumns], y[kTileColumns];
    load_columns(&columns[s][p.column], delta);
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      retrieved[c] = 0;
      y[c] = 0;
    }
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) {
        S[r][c] = tanh_approx(decay * S[r][c] + k.x[r] * delta[c]);
        retrieved[c] += S[r][c] * next_k.x[r];
        y[c] += S[r][c] * q.x[r];
      }
    }
    const float sum_y = sum_of_column(p, y);
    __syncwarp();  // every lane has read delta
    if (speaks<kTileColumns>(p)) {
      columns[s][owned<kTileColumns>(p)] = sum_y;
    }
    k = next_k;
  }
}

__device__ void load_tile(const Place& p, const bf16* from, Tile& S) {
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; c += 4) {
      const uint2 words = *reinterpret_cast<const uint2*>(from + p.row(r) * kColumns + p.first_column + p.column + c);
      S[r][c] = low(words.x);
      S[r][c + 1] = high(words.x);
      S[r][c + 2] = low(words.y);
      S[r][c + 3] = high(words.y);
    }
  }
}

// Where eight neighbours of a row wait in shared memory: shuffled, so that neither direction meets a bank twice.
__device__ int place_of(int row, int column) {
  return row * kStride + ((column / 8 ^ row / 4 % (kStride / 8)) * 8) + column % 8;
}

__device__ void set_out(const Place& p, const Tile& S, bf16* state) {
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; c += 4) {
      *reinterpret_cast<uint2*>(state + place_of(p.row(r), p.first_column + p.column + c)) =
          make_uint2(pack(S[r][c], S[r][c + 1]), pack(S[r][c + 2], S[r][c + 3]));
    }
  }
}

// By whole rows: a warp's columns alone would be 16 or 32 bytes of each.
__device__ void store_state(const bf16* state, bf16* to) {
#pragma unroll
  for (int i = threadIdx.x; i < kState / 8; i += kThreads) {
    const int row = i / (kColumns / 8), column = i % (kColumns / 8) * 8;
    *reinterpret_cast<uint4*>(to + i * 8) = *reinterpret_cast<const uint4*>(state + place_of(row, column));
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS) forward(const e88_forward_args a) {
  extern __shared__ uint4 shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Place p(threadIdx.x);
  Columns& columns = w.columns[threadIdx.x / 32];
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  Tile S;
  load_tile(p, a.s0 + sequence * kState, S);
  BlockInputs in;
  fetch(a, p, in, b * a.T * a.H + h, min(static_cast<long long>(kSegment), a.T));
  for (long long first = 0; first < a.T; first += kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const long long row = (b * a.T + first) * a.H + h;
    const int turn = first / kSegment % 2;
    Rows& rows = w.rows[turn];
    set_out(p, S, w.state[turn]);
    deposit(p, in, rows, columns);
    uint4 gates[kWarpColumnPasses];
#pragma unroll
    for (int pass = 0; pass < kWarpColumnPasses; ++pass) {
      gates[pass] = in.g[pass];
    }
    __syncthreads();
    store_state(w.state[turn], a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kState);
    if (first + kSegment < a.T) {
      fetch(a, p, in, row + kSegment * a.H, min(static_cast<long long>(kSegment), a.T - first - kSegment));
    }
    recur(rows, columns, p, steps, S);
    __syncwarp();
    finish(a, p, columns, gates, row, steps);
    __syncwarp();
  }
  __syncthreads();
  set_out(p, S, w.state[0]);
  __syncthreads();
  store_state(w.state[0], a.s_final + sequence * kState);
}
