// variants/common/time_slices.cuh - equal stretches of work for all blocks that the GPU holds at once, where sequences
// do not divide by them. A sequence that two blocks share is handed over once: the one that goes on with it has other
// work first, and it waits for a block of a smaller index only, which began before it did.
#pragma once

namespace {

// The blocks that the GPU holds, TOGETHER of them in a row: these have sequences that lie beside each other in memory,
// and are at the same step of them. A stretch is what one such row takes of the segments of all rows of sequences, the
// last segment of a sequence first.
struct Stretch {
  long long segments;  // of a sequence
  long long begin, end;
  template <class Args>
  __device__ explicit Stretch(const Args& a) : segments((a.T + kSegment - 1) / kSegment) {
    const long long all = (a.B * a.H + TOGETHER - 1) / TOGETHER * segments;
    const long long row = blockIdx.x / TOGETHER, rows = gridDim.x / TOGETHER;
    begin = row * all / rows;
    end = (row + 1) * all / rows;
  }
};

// A part of one sequence: segments from `from` down to `to`. A family that goes forward counts them from the last one.
struct Piece {
  long long sequence;
  int from, to;
  bool is_begun, is_left;  // before it, after it: by another block
};

// The piece that a block takes in turn `turn`; false behind the last. What another block waits for comes first, and
// what waits for another block last: no block has less to do than the segments of one sequence, so that nobody waits
// long. Not inlined: a step needs all registers, and this is done a few times in all.
template <class Args>
__device__ __noinline__ bool take_piece(const Args& a, int turn, Piece& piece) {
  const Stretch z(a);
  const long long whole = (z.begin + z.segments - 1) / z.segments, behind = z.end / z.segments;
  const int late = z.end % z.segments != 0 ? 1 : 0, early = z.begin % z.segments != 0 ? 1 : 0;
  const int last = z.segments - 1;
  long long row = whole - 1;
  if (turn < late) {
    row = behind;
    piece = {0, last, static_cast<int>(z.segments - z.end % z.segments), false, true};
  } else if (turn - late < behind - whole) {
    row = whole + turn - late;
    piece = {0, last, 0, false, false};
  } else {
    piece = {0, static_cast<int>(last - z.begin % z.segments), 0, true, false};
  }
  piece.sequence = row * TOGETHER + blockIdx.x % TOGETHER;
  return turn < late + (behind - whole) + early;
}

inline __device__ void raise_flag(void* flags, long long index) {
  atomicExch(static_cast<int*>(flags) + index, 1);
}

inline __device__ void await_flag(void* flags, long long index) {
  while (atomicAdd(static_cast<int*>(flags) + index, 0) == 0) {
    __nanosleep(200);
  }
}

}  // namespace
