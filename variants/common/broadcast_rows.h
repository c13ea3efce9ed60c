// variants/common/broadcast_rows.h - the binary backward along rows: the innermost dimension, which B keeps or not.
#pragma once
#include <vector>

#include "broadcast.h"
#include "powers.h"
#include "streaming_stores.h"

namespace {

constexpr int kBroadcastLanes = 16;

// How dA is stored: where it is computed, or in blocks past the cache, so that its lines are not read first.
enum class Stores { cached, streaming };

// Arguments without an `op` are those of pow_backward, whose one operation is A^B.
template <class Args>
constexpr bool kIsPower = !requires(const Args& args) {
  args.op;
};
constexpr int kPower = 6;  // after those that `op` numbers

// How one element is computed, with all that is the same for every element known to the compiler.
template <int kOp, bool kNeedA, bool kNeedB>
struct Element {
  static constexpr bool kNeedsA = kNeedA;
  static constexpr bool kReadsA = kOp >= 4 || (kOp >= 2 && kNeedB);
  static constexpr bool kReadsB = kOp >= 3 || (kOp == 2 && kNeedA);

  // The derivatives. Those of A^B have one power, which the compiler takes once: A^(B-1) = A^B / A.
  static float by_a(float a, float b) {
    if constexpr (kOp == kPower) {
      return b * (exp2_of(b * log2_of(a)) / a);
    } else {
      return gradient_of_a(kOp, a, b);
    }
  }
  static float by_b(float a, float b) {
    if constexpr (kOp == kPower) {
      constexpr float kLn2 = 0.69314718f;
      return exp2_of(b * log2_of(a)) * (log2_of(a) * kLn2);
    } else {
      return gradient_of_b(kOp, a, b);
    }
  }
};

// Calls work(Element<op, need_dA, need_dB>()).
template <class Args, class Work>
void with_element(const Args& a, Work work) {
  const auto with_op = [&]<bool kNeedA, bool kNeedB>() {
    switch (a.op) {
      case 0:
        return work(Element<0, kNeedA, kNeedB>());
      case 1:
        return work(Element<1, kNeedA, kNeedB>());
      case 2:
        return work(Element<2, kNeedA, kNeedB>());
      case 3:
        return work(Element<3, kNeedA, kNeedB>());
      case 4:
        return work(Element<4, kNeedA, kNeedB>());
      default:
        return work(Element<5, kNeedA, kNeedB>());
    }
  };
  if (a.need_dA && a.need_dB) {
    with_op.template operator()<true, true>();
  } else if (a.need_dA) {
    with_op.template operator()<true, false>();
  } else {
    with_op.template operator()<false, true>();
  }
}

// Of pow_backward, which has one operation. It is an overload because a branch at compile time in the function above
// changes the registers of the other families.
template <class Args, class Work>
requires kIsPower<Args>
void with_element(const Args& a, Work work) {
  if (a.need_dA && a.need_dB) {
    work(Element<kPower, true, true>());
  } else if (a.need_dA) {
    work(Element<kPower, true, false>());
  } else {
    work(Element<kPower, false, true>());
  }
}

enum class IntoB { add, write };

// Of `count` elements, each with its own element of B: sums[c] gets what goes to dB, added or written.
template <IntoB kInto, int kOp, bool kNeedA, bool kNeedB, class Left, class Right, class Sum>
void kept_row(Element<kOp, kNeedA, kNeedB>, int64_t count, const Left* __restrict g, const Left* __restrict A,
              const Right* __restrict B, Left* __restrict dA, Sum* __restrict sums) {
  using E = Element<kOp, kNeedA, kNeedB>;
  for (int64_t c = 0; c < count; ++c) {
    const float gradient = value_of(g[c]);
    const float left = E::kReadsA ? value_of(A[c]) : 0, right = E::kReadsB ? value_of(B[c]) : 0;
    if constexpr (kNeedA) {
      put(gradient * E::by_a(left, right), dA + c);
    }
    if constexpr (kNeedB) {
      const float term = gradient * E::by_b(left, right);
      put(kInto == IntoB::add ? value_of(sums[c]) + term : term, sums + c);
    }
  }
}

// Of `count` elements that share one of B: returns what goes to its dB.
template <int kOp, bool kNeedA, bool kNeedB, class Left>
float repeated_row(Element<kOp, kNeedA, kNeedB>, int64_t count, const Left* __restrict g, const Left* __restrict A,
                   float right, Left* __restrict dA) {
  using E = Element<kOp, kNeedA, kNeedB>;
  float lanes[kBroadcastLanes] = {};
  const auto one = [&](int64_t c, float& sum) {
    const float gradient = value_of(g[c]), left = E::kReadsA ? value_of(A[c]) : 0;
    if constexpr (kNeedA) {
      put(gradient * E::by_a(left, right), dA + c);
    }
    if constexpr (kNeedB) {
      sum += gradient * E::by_b(left, right);
    }
  };
  int64_t c = 0;
  for (; c + kBroadcastLanes <= count; c += kBroadcastLanes) {
    for (int lane = 0; lane < kBroadcastLanes; ++lane) {
      one(c + lane, lanes[lane]);
    }
  }
  for (int lane = 0; c < count; ++c, ++lane) {
    one(c, lanes[lane]);
  }
  for (int step = kBroadcastLanes / 2; step > 0; step /= 2) {
    for (int lane = 0; lane < step; ++lane) {
      lanes[lane] += lanes[lane + step];
    }
  }
  return lanes[0];
}

inline int64_t row_offset_in_b(const Broadcast& shape, int64_t row) {
  int64_t offset = 0;
  for (int d = shape.rank - 1; d-- > 0;) {
    offset += row % shape.extent[d] * shape.b_stride[d];
    row /= shape.extent[d];
  }
  return offset;
}

// The elements [first, end) of A, row by row. What goes to dB is added to `sums`, or written where B repeats nowhere.
template <Stores kStores = Stores::cached, class E, class Args, class Sum>
void binary_backward_part(E element, const Args& a, const Broadcast& shape, int64_t first, int64_t end, Sum* sums) {
  constexpr bool kStreams = kStores == Stores::streaming && E::kNeedsA;
  constexpr int64_t kBlock = 1024;
  std::remove_reference_t<decltype(*a.dA)> block[kStreams ? kBlock : 1];
  const int inner = shape.rank - 1;
  const int64_t length = shape.rank == 0 ? 1 : shape.extent[inner];
  const bool kept = shape.rank == 0 || shape.kept[inner], repeats = shape.elements != shape.b_elements;
  for (int64_t i = first; i < end;) {
    const int64_t row = i / length, c = i % length, rest = std::min(length - c, end - i);
    const int64_t count = kStreams ? std::min(rest, kBlock) : rest;
    const int64_t b = row_offset_in_b(shape, row) + (kept ? c : 0);
    const auto *g = a.g + i, *A = a.A + i;
    auto* dA = kStreams ? block : a.dA + i;
    if (!kept) {
      sums[b] += repeated_row(element, count, g, A, E::kReadsB ? value_of(a.B[b]) : 0, dA);
    } else if (repeats) {
      kept_row<IntoB::add>(element, count, g, A, a.B + b, dA, sums + b);
    } else {
      kept_row<IntoB::write>(element, count, g, A, a.B + b, dA, a.dB + b);
    }
    if (kStreams) {
      stream(block, a.dA + i, count);
    }
    i += count;
  }
  if (kStreams) {
    finish_streams();
  }
}

}  // namespace
