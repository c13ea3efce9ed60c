// harness/executor/device/cooperative_groups/reduce.h - reductions over a tile, in the order of a butterfly.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T = void>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T = void>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T = void>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T = void>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation, apo_cpu::Line line = {__builtin_FILE(), __builtin_LINE()}) {
  for (unsigned lanes = group.size() / 2; lanes > 0; lanes /= 2) {
    value = operation(value, group.shfl_xor(value, lanes, line));
  }
  return value;
}

}  // namespace cooperative_groups
