// grouped_kernel.cuh - the kernel of one warp whose loads are grouped. Shared memory holds the states of half a segment;
// those of the lower half are replayed again.
#pragma once
#include "grouped_loads.cuh"
#include "parked_sums.cuh"

namespace {

// Steps has the variant's parts: deposit_keys, deposit_others, replay, reverse, finish.
template <class Steps, class Work>
__device__ void backward_grouped(const e88_backward_args& a, Work& w) {
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
    const int top = steps > kHalf ? 1 : 0;
#pragma unroll 1
    for (int half = top; half >= 0; --half) {
      const int count = min(kHalf, steps - half * kHalf);
      const Slice slice = slice_of(first + half * kHalf);
      unpack(raw, S);
#pragma unroll 1
      for (int part = 0; part <= half; ++part) {
        Steps::deposit_keys(keys, w, slice_of(first + part * kHalf));
        __syncwarp();
        if (part < half) {
          keys = fetch_keys(a, slice);
        } else {
          others = fetch_others(a, slice);
        }
        Steps::replay(w, p, min(kHalf, steps - part * kHalf), part == half, S);
        __syncwarp();
      }
      Steps::deposit_others(a, others, w, slice);
      __syncwarp();
      Steps::reverse(w, p, count, S, D);
      __syncwarp();
      const long long next = half > 0 ? first : first - kSegment;
      if (next >= 0) {
        raw = fetch_tile(p, checkpoint(next));
        keys = fetch_keys(a, slice_of(next));
      }
      Steps::finish(a, w, p.lane, slice);
      __syncwarp();
    }
  }
  store_tile(p, D, a.ds0 + sequence * kState);
}

}  // namespace
