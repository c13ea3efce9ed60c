// harness/executor/device/interface.h - what a device variant that was built for the CPU and the program say to each
// other. Plain data and function pointers: either side may be built with other flags.
#pragma once

namespace apo_cpu {

using Size = decltype(sizeof 0);
using Address = unsigned long long;
static_assert(sizeof(Address) == sizeof(void*), "64-bit machines only");

inline constexpr unsigned kInterface = 5;  // raised with every change in this file
inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kMostTogether = 1 << 16;  // threads of a cooperative launch
// The stack of one emulated thread. A power of two to which stacks are aligned: an address with the upper bits of the
// stack pointer is local memory of the thread, and the stack pointer alone leads to its Thread.
inline constexpr Address kStackBytes = Address{128} << 10;

struct Triple {
  unsigned x, y, z;
};

// Lies at the upper end of its thread's stack.
struct alignas(64) Thread {
  Triple thread, block, block_dim, grid_dim;
  unsigned number;  // of the thread in its block, x fastest
};

// A volatile access is an atomic read or write; `block_atomic` is one for the threads of its block alone.
enum class Access : unsigned char { read, write, atomic, block_atomic, atomic_read, atomic_write };

inline constexpr bool reads(Access kind) {
  return kind != Access::write && kind != Access::atomic_write;
}
inline constexpr bool writes(Access kind) {
  return kind != Access::read && kind != Access::atomic_read;
}
inline constexpr bool is_atomic(Access kind) {
  return kind != Access::read && kind != Access::write;
}

// A line of the variant's file or of one of its headers.
struct Line {
  const char* file;
  int number;
};
inline bool operator==(const Line& a, const Line& b) {
  return a.number == b.number && __builtin_strcmp(a.file, b.file) == 0;
}

// What one lane brings to an operation of its warp. The last lane to arrive runs `finish` for all of them.
struct Collective {
  const char* name;  // "__shfl_xor_sync"; lanes meet when name and mask are the same
  unsigned mask;
  Line line;
  void (*finish)(Collective* const* lanes, unsigned present);  // lanes[i] is null where bit i of `present` is 0
  Address in[10];
  Address out[4];
  unsigned lane;
};

enum class Vote : unsigned char { none, count, every, any };

// A barrier of the whole block (`threads` is 0) or one that `threads` threads meet at; of the whole grid, where all
// threads of its blocks do.
struct Barrier {
  const char* name;
  Line line;
  unsigned id;
  unsigned threads;
  Vote vote;
  int predicate;
  int result;
  bool is_of_grid;
};

// A launch by the host code of a library variant.
struct HostLaunch {
  const char* kernel;
  void (*entry)(const void* arguments);  // runs one thread
  const void* arguments;
  Triple grid, block;
  Size shared_bytes;  // dynamic
  bool cooperative;
};

// The program's side. A call that finds a mistake does not return.
struct Runtime {
  void (*access)(Address address, Size bytes, Access kind, bool aligned, const void* code);
  void (*barrier)(Barrier* barrier);
  void (*collective)(Collective* collective);
  void (*yield)();  // lets another thread run: whoever waits in a loop calls it
  void (*start_copy)(Address to, Address from, Size bytes, Size zeros, const void* code);  // asynchronous
  void (*commit_copies)();
  void (*wait_copies)(unsigned groups_left);
  // An address that the alignment of `type` forbids, and an index outside of an array of type `array`.
  void (*bad_pointer)(const char* type, unsigned alignment, Address address, Line line);
  void (*bad_index)(const char* array, Address index, Line line);
  void (*fail)(const char* kind, const char* what, Line line);
  Address (*shared_offset)(const void* address);  // of shared memory, from the start of the block's
  void* (*shared_address)(Address offset);
  Address (*clock)();  // grows by steps of any size
  void (*fence)();     // of the whole GPU
  bool (*in_kernel)();
  void* (*heap)(Size bytes);  // malloc of a kernel; null where the heap is used up
  // For host code; the results are values of cudaError_t.
  int (*launch)(const HostLaunch* launch);
  int (*allocate)(void** memory, Size bytes);
  int (*release)(void* memory);
  int (*touch)(const void* memory, Size bytes, bool writes);  // before host code copies from there or to there
  void (*absent)(const char* name);                           // of a function that has no equivalent
};

}  // namespace apo_cpu
