// harness/executor/device/cooperative_groups/scan.h - running reductions over a tile.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation = plus<T>>
T inclusive_scan(const Group& group, T value, Operation operation = {},
                 apo_cpu::Line line = {__builtin_FILE(), __builtin_LINE()}) {
  for (unsigned lanes = 1; lanes < group.size(); lanes *= 2) {
    const T before = group.shfl_up(value, lanes, line);
    value = group.thread_rank() >= lanes ? operation(before, value) : value;
  }
  return value;
}
template <class Group, class T, class Operation = plus<T>>
T exclusive_scan(const Group& group, T value, Operation operation = {},
                 apo_cpu::Line line = {__builtin_FILE(), __builtin_LINE()}) {
  const T before = group.shfl_up(inclusive_scan(group, value, operation, line), 1, line);
  return group.thread_rank() == 0 ? T{} : before;
}

}  // namespace cooperative_groups
