// variants/common/broadcast_lines.cuh - the binary backward on a GPU: the ring of each warp that the copy engine fills.
//
// A line is up to kLine neighbouring elements of g, A, and B where it repeats nowhere. Bytes under way lie in shared
// memory and not in registers. A warp has a ring of its own, so that no block barrier is needed: lane 0 asks for a line
// as soon as all lanes have taken the last one of its stage.
#pragma once
#include "broadcast_tiles.cuh"
#include "bulk_copies.cuh"

namespace {

// The lines first, first + step, ... below `end` of runs of neighbours: kLine elements each, the last of a run has the
// rest. The runs start at `base` + runs->offset().
struct Lines {
  long long first, end;
  int step;
  long long base, length, lines_of_run;
  const Outer* runs;
};

// Where a line lies, for the lanes that take it.
struct Piece {
  long long at;
  int count;
};

// One warp's. Slots are of kLine elements of g: a stage has one of g, then one of A, then those of B.
template <int kLineElements, int kRingStages, int kSlotBytes, int kStageBytes>
struct LineRing {
  static constexpr int kLine = kLineElements, kStages = kRingStages;
  char* memory;
  Barrier* full;  // and pieces: one a stage
  Piece* pieces;
  int stage = 0;
  unsigned parity = 0;

  __device__ char* slot(int number) const { return memory + stage * kStageBytes + number * kSlotBytes; }
  // What the present stage has of `tensor`.
  template <class T>
  __device__ T* of(T* /*tensor*/, int number) const {
    return reinterpret_cast<T*>(slot(number));
  }
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Starts to copy a line into the ring's stage; by lane 0.
template <bool kEqual, class Ring, class Args>
__device__ void ask_for_line(const Args& a, const Ring& ring, const Lines& lines, long long line) {
  const long long run = lines.runs->rank == 0 ? 0 : quotient(line, lines.lines_of_run);
  const long long from = (line - run * lines.lines_of_run) * Ring::kLine, left = lines.length - from;
  const long long at = lines.base + lines.runs->offset(run) + from;
  const int count = left < Ring::kLine ? static_cast<int>(left) : Ring::kLine;
  const bool has_a = reads_a(a), has_b = kEqual && reads_b(a);
  const unsigned bytes = count * sizeof *a.g, bytes_of_b = count * sizeof *a.B;
  Barrier& full = ring.full[ring.stage];
  ring.pieces[ring.stage] = {at, count};
  arrive_expecting(full, bytes + (has_a ? bytes : 0) + (has_b ? bytes_of_b : 0));
  copy_bytes(ring.slot(0), a.g + at, bytes, full);
  if (has_a) {
    copy_bytes(ring.slot(1), a.A + at, bytes, full);
  }
  if (has_b) {
    copy_bytes(ring.slot(2), a.B + at, bytes_of_b, full);
  }
}

// All of a warp's lines: dA, and the sums of what goes to dB by the lane's places in a line; or dB itself where B
// repeats nowhere (kEqual), and then `right` is not used.
template <int kVector, bool kEqual, int kWide, class Ring, class Args>
__device__ void take_lines(const Args& a, Ring& ring, const Lines& lines, const OfB<kVector, Args> (&right)[kWide],
                           float (&sum)[kWide][kVector]) {
  if (lines.first >= lines.end) {
    return;
  }
  const int lane = threadIdx.x % 32;
  const long long ahead = 1LL * Ring::kStages * lines.step;
  ring.parity ^= 1;  // the round that only asks
  for (long long line = lines.first - ahead; line < lines.end; line += lines.step, ring.advance()) {
    const bool takes = line >= lines.first;
    Vectors<kVector, kWide, Args> vectors;
    OfB<kVector, Args> of_b[kWide] = {};
    Piece piece = {0, 0};
    if (takes) {
      wait(ring.full[ring.stage], ring.parity);
      piece = ring.pieces[ring.stage];
#pragma unroll
      for (int u = 0; u < kWide; ++u) {
        const int i = (32 * u + lane) * kVector;
        if (i < piece.count) {
          vectors.g[u] = load_pack<kVector>(ring.of(a.g, 0) + i);
          if (reads_a(a)) {
            vectors.left[u] = load_pack<kVector>(ring.of(a.A, 1) + i);
          }
          if (kEqual && reads_b(a)) {
            of_b[u] = load_pack<kVector>(ring.of(a.B, 2) + i);
          }
        }
      }
      __syncwarp();
    }
    if (lane == 0 && line + ahead < lines.end) {
      ask_for_line<kEqual>(a, ring, lines, line + ahead);
    }
#pragma unroll
    for (int u = 0; u < kWide; ++u) {
      const int i = (32 * u + lane) * kVector;
      if (i < piece.count) {
        if constexpr (kEqual) {
          vectors.both(a, u, of_b[u], piece.at + i);
        } else {
          vectors.add(a, u, right[u], piece.at + i, sum[u]);
        }
      }
    }
  }
}

}  // namespace
