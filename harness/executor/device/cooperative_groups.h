// harness/executor/device/cooperative_groups.h - groups of threads: the grid of a cooperative launch, the block, its
// tiles, and the threads of a warp. Clusters have no equivalent here.
#pragma once

#define APO_CPU_LINE apo_cpu::Line apo_cpu_line = {__builtin_FILE(), __builtin_LINE()}

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(APO_CPU_LINE) { apo_cpu::barrier("thread_block::sync", apo_cpu_line, 0, 0); }
  static unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return dim_threads(); }
  static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};

inline thread_block this_thread_block() {
  return {};
}

class grid_group {
 public:
  static void sync(APO_CPU_LINE) {
    apo_cpu::barrier("grid_group::sync", apo_cpu_line, 0, 0, apo_cpu::Vote::none, 0, true);
  }
  static constexpr bool is_valid() { return true; }  // where it is not, sync() is the mistake
  static dim3 group_dim() { return dim_blocks(); }
  static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned long long size() { return num_threads(); }
};

inline grid_group this_grid() {
  return {};
}

// Lanes [first, first + kSize) of a warp.
template <unsigned kSize, class Parent = void>
class thread_block_tile {
  static_assert(kSize <= 32 && (kSize & (kSize - 1)) == 0, "not checkable on the CPU: tiles of several warps");

 public:
  thread_block_tile() = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<kSize, Other>&) {}
  static void sync(APO_CPU_LINE) { apo_cpu::word("tile::sync", mask(), apo_cpu_line, 0, apo_cpu::finish_nothing); }
  static unsigned thread_rank() { return apo_cpu::lane() % kSize; }
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / kSize; }
  static unsigned meta_group_size() { return (thread_block::size() + kSize - 1) / kSize; }
  template <class T>
  static T shfl(T value, int rank, APO_CPU_LINE) {
    return __shfl_sync(mask(), value, rank, kSize, apo_cpu_line);
  }
  template <class T>
  static T shfl_up(T value, unsigned delta, APO_CPU_LINE) {
    return __shfl_up_sync(mask(), value, delta, kSize, apo_cpu_line);
  }
  template <class T>
  static T shfl_down(T value, unsigned delta, APO_CPU_LINE) {
    return __shfl_down_sync(mask(), value, delta, kSize, apo_cpu_line);
  }
  template <class T>
  static T shfl_xor(T value, unsigned lanes, APO_CPU_LINE) {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lanes), kSize, apo_cpu_line);
  }
  static int any(int predicate, APO_CPU_LINE) { return __any_sync(mask(), predicate, apo_cpu_line); }
  static int all(int predicate, APO_CPU_LINE) { return __all_sync(mask(), predicate, apo_cpu_line); }
  static unsigned ballot(int predicate, APO_CPU_LINE) {
    return __ballot_sync(mask(), predicate, apo_cpu_line) >> first();
  }
  template <class T>
  static unsigned match_any(T value, APO_CPU_LINE) {
    return __match_any_sync(mask(), value, apo_cpu_line) >> first();
  }

 private:
  static unsigned first() { return apo_cpu::lane() & ~(kSize - 1); }
  static unsigned mask() { return (kSize == 32 ? ~0u : (1u << kSize % 32) - 1) << first(); }
};

template <unsigned kSize, class Parent>
thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}

template <class Group>
void sync(const Group& group, APO_CPU_LINE) {
  group.sync(apo_cpu_line);
}
template <class Group>
unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
unsigned group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups
#undef APO_CPU_LINE
