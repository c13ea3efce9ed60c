// variants/common/broadcast_rows.h - the binary backward along rows: the innermost dimension, which B keeps or not.
#pragma once
#include <vector>

#include "broadcast.h"
#include "powers.h"
#include "streaming_stores.h"

namespace {

constexpr int kBroadcastLanes = 16;

// How large outputs are stored: through the cache, or in blocks past it, so that their lines are not read first.
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
  static constexpr bool kNeedsB = kNeedB;
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

// Of `count` elements that share one of B: what goes to its dB is added to the lanes.
template <int kOp, bool kNeedA, bool kNeedB, class Left>
void repeated_row(Element<kOp, kNeedA, kNeedB>, int64_t count, const Left* __restrict g, const Left* __restrict A,
                  float right, Left* __restrict dA, float* __restrict lanes) {
  using E = Element<kOp, kNeedA, kNeedB>;
  const auto one = [&](int64_t c, float& sum) {
    const float gradient = value_of(g[c]), left = E::kReadsA ? value_of(A[c]) : 0;
    if constexpr (kNeedA) {
      put(gradient * E::by_a(left, right), dA + c);
    }
    if constexpr (kNeedB) {
      sum += gradient * E::by_b(left, right);
    }
  };
  const int64_t whole = count / kBroadcastLanes * kBroadcastLanes;
  for (int64_t c = 0; c < whole; c += kBroadcastLanes) {
    for (int lane = 0; lane < kBroadcastLanes; ++lane) {
      one(c + lane, lanes[lane]);
    }
  }
  for (int64_t c = whole; c < count; ++c) {
    one(c, lanes[c - whole]);
  }
}

inline float sum_of_lanes(float* lanes) {
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

// Calls part(c, n, to...) for the elements [c, c + n) of a row of `count`; each `to` takes n results. Streaming needs
// lines that begin at the same elements in all outputs; the ends of the row go through the cache.
template <Stores kStores, class Part, class... Out>
void write_row(int64_t count, Part part, Out*... out) {
  int64_t first = 0, end = 0;  // of the blocks
  if constexpr (kStores == Stores::streaming) {
    constexpr int64_t kBlock = kStreamedBytes / std::min({static_cast<int64_t>(sizeof(Out))...});
    const int64_t before[] = {elements_before_line(out)...};
    if (((elements_before_line(out) == before[0]) && ...) && before[0] < count) {
      first = before[0];
      end = first + (count - first) / kBlock * kBlock;
    }
    part(0, first, out...);
    const auto write_block = [&](int64_t c, Block<Out, kBlock>... block) {
      part(c, std::integral_constant<int64_t, kBlock>(), block.values...);
      (stream(block, out + c), ...);
    };
    for (int64_t c = first; c < end; c += kBlock) {
      write_block(c, Block<Out, kBlock>()...);
    }
  }
  part(end, count - end, out + end...);
}

// The elements [first, end) of A, row by row. What goes to dB is added to `sums`, or written where B repeats nowhere.
template <Stores kStores = Stores::cached, class E, class Args, class Sum>
void binary_backward_part(E element, const Args& a, const Broadcast& shape, int64_t first, int64_t end, Sum* sums) {
  constexpr Stores kOfA = E::kNeedsA ? kStores : Stores::cached;
  const int inner = shape.rank - 1;
  const int64_t length = shape.rank == 0 ? 1 : shape.extent[inner];
  const bool kept = shape.rank == 0 || shape.kept[inner];
  const bool adds = !E::kNeedsB || shape.elements != shape.b_elements;
  for (int64_t i = first; i < end;) {
    const int64_t row = i / length, column = i % length, count = std::min(length - column, end - i);
    const int64_t b = row_offset_in_b(shape, row) + (kept ? column : 0);
    const auto *g = a.g + i, *A = a.A + i;
    const auto* B = a.B + b;
    auto* dA = a.dA + i;
    if (!kept) {
      float lanes[kBroadcastLanes] = {};
      const float right = E::kReadsB ? value_of(*B) : 0;
      const auto part = [&](int64_t c, auto n, auto* to) { repeated_row(element, n, g + c, A + c, right, to, lanes); };
      write_row<kOfA>(count, part, dA);
      if constexpr (E::kNeedsB) {
        sums[b] += sum_of_lanes(lanes);
      }
    } else if (adds) {
      const auto part = [&](int64_t c, auto n, auto* to) {
        kept_row<IntoB::add>(element, n, g + c, A + c, B + c, to, sums + b + c);
      };
      write_row<kOfA>(count, part, dA);
    } else {
      const auto part = [&](int64_t c, auto n, auto* to, auto* to_b) {
        kept_row<IntoB::write>(element, n, g + c, A + c, B + c, to, to_b);
      };
      write_row<kOfA>(count, part, dA, a.dB + b);
    }
    i += count;
  }
  if (kOfA == Stores::streaming) {
    finish_streams();
  }
}

}  // namespace
