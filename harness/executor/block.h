// harness/executor/block.h - runs the threads of one block as fibers of the calling thread, in an order drawn from a
// seed, and watches what they do.
//
// A fiber runs until it waits, then the next one is drawn from those that are ready: lanes of a warp meet only where
// the program says so. When a mistake is found the block is given up where it stands; its fibers are never resumed.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/executor/device/interface.h"
#include "harness/executor/finding.h"
#include "harness/executor/launch_order.h"
#include "harness/executor/memory.h"
#include "harness/executor/order.h"

namespace apo::executor {

struct KernelCall {
  std::string kernel;
  void (*entry)(const void* arguments) = nullptr;  // runs one thread
  const void* arguments = nullptr;
  apo_cpu::Triple grid = {1, 1, 1};
  apo_cpu::Triple block = {1, 1, 1};
  std::size_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  bool loads_seen = true;  // plain loads and stores are reported, so that initialisation and races can be judged
};

// The address of a store that a CPU may have under way, the block that it runs, and whether it waits for the store of
// another CPU. CPUs write them all the time: each has a cache line of its own.
struct alignas(64) Storing {
  std::atomic<BlockNumber> block{0};
  std::atomic<std::uintptr_t> address{0};
  std::atomic<bool> waiting{false};
};

// The blocks of a cooperative launch, which run at once, each on a thread of its own.
class Grid {
 public:
  // `between` is called by the last block that comes to a barrier, while the others wait there.
  Grid(std::uint64_t blocks, std::function<void()> between) : blocks_(blocks), between_(std::move(between)) {}
  // Waits for all blocks. Returns false where one has ended.
  bool meet();
  // A block has ended; returns whether it is the first one that failed: the others may have waited for it.
  bool leave(bool failed);

 private:
  std::uint64_t blocks_;
  std::function<void()> between_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t waiting_ = 0;
  std::uint64_t rounds_ = 0;
  bool has_left_ = false;
  bool has_failed_ = false;
};

// What the blocks of a launch share: the addresses of the object's own code and variables, and what each CPU stores.
struct LaunchPlace {
  Stretch object;
  Stretch constants;  // the object's variables of constant memory
  std::vector<Storing> storing;
  Grid* grid = nullptr;  // of a cooperative launch
};

// The stacks of emulated threads: aligned to their size, each with a guard page unless there are too many.
class Stacks {
 public:
  // Throws std::bad_alloc.
  Stacks(unsigned count, bool with_guards);
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  apo_cpu::Thread& thread(unsigned index) const {
    return *(reinterpret_cast<apo_cpu::Thread*>(begin_ + (index + 1) * apo_cpu::kStackBytes) - 1);
  }
  // The begin of a thread's stack, which grows down.
  void* top(unsigned index) const { return &thread(index); }
  static constexpr std::size_t kUsable = apo_cpu::kStackBytes - 4096 - sizeof(apo_cpu::Thread);
  bool holds(std::uintptr_t address) const { return address - begin_ < count_ * apo_cpu::kStackBytes; }

 private:
  void* memory_;
  std::size_t bytes_;
  std::uintptr_t begin_ = 0;
  unsigned count_;
};

class Block {
 public:
  // `cpu` counts the CPUs that run blocks of this launch.
  Block(const KernelCall& call, const SharedPlace& shared, LaunchPlace& launch, std::size_t cpu, GlobalMemory& memory);

  // Runs the block at `place` in the launch, x fastest.
  std::optional<Finding> run(std::uint64_t place, std::uint64_t seed);
  // Receives the calls of the block that runs on this thread.
  static const apo_cpu::Runtime& runtime();

 private:
  using Context = void*;  // of Boost.Context
  enum class State : std::uint8_t { ready, at_barrier, in_warp, done };
  struct Copy {
    std::uintptr_t to, from;
    std::size_t bytes, zeros;
    const void* code;
  };
  struct Fiber {
    Context context = nullptr;
    State state = State::ready;
    apo_cpu::Barrier* barrier = nullptr;        // it waits at
    apo_cpu::Collective* collective = nullptr;  // it waits in
    std::vector<Copy> started;                  // not in a group yet
    std::deque<std::vector<Copy>> groups;       // under way
  };

  // A write that is a race only if it changes the memory's contents, which is looked at after the write.
  struct Doubt {
    std::size_t bytes = 0;  // 0: none
    std::uintptr_t address = 0;
    std::optional<GlobalRace> global;  // else a race in shared memory
    SharedMistake mistake;
    const void* code = nullptr;
    std::array<unsigned char, 16> before{};
  };

  void start(std::uint64_t place);
  void enter_launch();
  void body();
  void leave();
  void next();
  [[noreturn]] void give_up(const char* kind, const std::string& what, const std::string& line);
  std::string thread_name(unsigned number) const;
  std::string waits_where(unsigned number) const;
  Finding finding(const char* kind, unsigned number, const std::string& what, const std::string& line) const;
  Finding stuck() const;

  // Ends the access before: the running thread has done it by now.
  void settle() {
    storing_.address.store(0, std::memory_order_release);
    if (unsettled_) {
      settle_access();
    }
  }
  void settle_access();
  void doubt(std::uintptr_t address, std::size_t bytes, const void* code);
  GlobalVisit visit(apo_cpu::Access kind, const void* code) {
    return {.order = order_,
            .blocks = blocks_,
            .first = memory_.first_block(),
            .thread = running_,
            .kind = kind,
            .code = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - launch_.object.begin)};
  }
  void begin_store(std::uintptr_t address, apo_cpu::Access kind) {
    if (kind == apo_cpu::Access::write) {
      storing_.address.store(address, std::memory_order_release);
    }
  }
  void check_global(GlobalShadow& shadow, std::uintptr_t begin, std::uintptr_t address, std::size_t bytes,
                    apo_cpu::Access kind, const void* code);
  std::string sentence(const GlobalRace& race, std::uintptr_t address) const;
  bool await_store(BlockNumber block, std::uintptr_t address, std::size_t bytes) const;
  void access(std::uintptr_t address, std::size_t bytes, apo_cpu::Access kind, bool aligned, const void* code);
  void barrier(apo_cpu::Barrier& barrier);
  void meet_grid(const apo_cpu::Barrier& barrier);
  void release(std::vector<unsigned>& members, bool all);
  void resume(unsigned number);
  void collective(apo_cpu::Collective& collective);
  bool complete_warp(unsigned warp, unsigned mask);
  void lanes_left(unsigned warp);
  void yield();
  void start_copy(const Copy& copy);
  void wait_copies(unsigned left);
  void land(const Copy& copy);
  void wait(State state);
  unsigned draw(unsigned below);

  static Block*& current();

  const KernelCall& call_;
  LaunchPlace& launch_;
  Storing& storing_;  // of this CPU
  GlobalMemory& memory_;
  SharedPlace place_;
  SharedMemory shared_;
  Order order_;
  BlockOrder blocks_;
  Stacks stacks_;
  std::vector<Fiber> fibers_;
  std::vector<unsigned> ready_;
  std::array<std::vector<unsigned>, 16> barriers_;  // who waits at each
  std::vector<unsigned> live_lanes_;                // of each warp, a bit each
  std::vector<unsigned> in_warp_;                   // those that wait in an operation of their warp
  std::uint64_t number_ = 0;                        // in its launch
  unsigned running_ = 0;
  unsigned live_ = 0;
  std::uint64_t random_ = 0;
  std::size_t buffer_ = 0;                 // of the last access of a tensor
  std::array<std::size_t, 64> buffers_{};  // that each place of the code accessed last
  std::uint64_t steps_ = 0;
  bool finishing_ = false;
  bool unsettled_ = false;
  std::uintptr_t read_ = 0;  // by an atomic access of global memory
  Doubt doubt_;
  Context scheduler_ = nullptr;
  std::optional<Finding> found_;
};

}  // namespace apo::executor
