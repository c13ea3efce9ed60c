// variants/common/broadcast.h - the binary backward on a CPU: derivatives, and where A's elements find theirs of B.
#pragma once
#include <algorithm>
#include <cstring>

#include "bf16.h"

namespace {

inline float value_of(float x) {
  return x;
}
inline float value_of(uint16_t bits) {
  return load(bits);
}
inline void put(float value, float* to) {
  *to = value;
}
inline void put(float value, uint16_t* to) {
  *to = store(value);
}

inline float gradient_of_a(int64_t op, float a, float b) {
  switch (op) {
    case 0:
    case 1:
      return 1;
    case 2:
      return b;
    case 3:
      return 1 / b;
    default:
      return a == b ? 0.5f : (a < b) == (op == 5) ? 1.0f : 0.0f;
  }
}

inline float gradient_of_b(int64_t op, float a, float b) {
  switch (op) {
    case 0:
      return 1;
    case 1:
      return -1;
    case 2:
      return a;
    case 3:
      return -a / (b * b);
    default:
      return a == b ? 0.5f : (a < b) == (op == 5) ? 0.0f : 1.0f;
  }
}

// The tensors A and B are empty where no gradient needs them.
template <class Args>
bool reads_a(const Args& args) {
  return args.op >= 4 || (args.op >= 2 && args.need_dB);
}
template <class Args>
bool reads_b(const Args& args) {
  return args.op >= 3 || (args.op == 2 && args.need_dA);
}

// Row-major dimensions, the outermost first. B's stride is 0 where it repeats.
struct Broadcast {
  int rank = 0;
  int64_t extent[8], stride[8], b_stride[8];
  bool kept[8];
  int64_t elements = 1, b_elements = 1;

  void add(int64_t count, bool is_kept) {
    extent[rank] = count;
    kept[rank++] = is_kept;
  }
  void finish() {
    for (int d = rank; d-- > 0;) {
      stride[d] = elements;
      b_stride[d] = kept[d] ? b_elements : 0;
      elements *= extent[d];
      b_elements *= kept[d] ? extent[d] : 1;
    }
  }
};

// The dimensions as the caller has them, without leading ones.
template <class Args>
Broadcast as_given(const Args& a) {
  const int64_t extents[8] = {a.d0, a.d1, a.d2, a.d3, a.d4, a.d5, a.d6, a.d7};
  Broadcast shape;
  for (int d = 0; d < 8; ++d) {
    if (shape.rank > 0 || extents[d] != 1) {
      shape.add(extents[d], (a.kept >> (7 - d) & 1) != 0);
    }
  }
  shape.finish();
  return shape;
}

// Without any dimension of 1, and with neighbours that B keeps, or repeats along, merged into one.
template <class Args>
Broadcast compressed(const Args& a) {
  const Broadcast given = as_given(a);
  Broadcast shape;
  for (int d = 0; d < given.rank; ++d) {
    if (given.extent[d] == 1) {
      continue;
    }
    if (shape.rank > 0 && shape.kept[shape.rank - 1] == given.kept[d]) {
      shape.extent[shape.rank - 1] *= given.extent[d];
    } else {
      shape.add(given.extent[d], given.kept[d]);
    }
  }
  shape.finish();
  return shape;
}

}  // namespace
