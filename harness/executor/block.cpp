// harness/executor/block.cpp - runs fibers, and checks each of their accesses.
#include "harness/executor/block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <new>
#include <utility>

namespace apo::executor {

namespace context = boost::context::detail;
using apo_cpu::Access;
using apo_cpu::Address;
using apo_cpu::kStackBytes;
using apo_cpu::kWarp;
using apo_cpu::Triple;

namespace {

std::string text_of(const Triple& t) {
  return fmt::format("({},{},{})", t.x, t.y, t.z);
}

unsigned count_of(const Triple& t) {
  return t.x * t.y * t.z;
}

}  // namespace

// One mapping, of which only touched pages use memory.
Stacks::Stacks(unsigned count) : bytes_((count + std::size_t{1}) * kStackBytes), count_(count) {
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) {
    throw std::bad_alloc();
  }
  begin_ = (reinterpret_cast<std::uintptr_t>(memory_) + kStackBytes - 1) / kStackBytes * kStackBytes;
  for (unsigned i = 0; i < count; ++i) {
    // Fails only when the system runs out of mappings; then an overflow is not caught.
    mprotect(reinterpret_cast<void*>(begin_ + i * kStackBytes), 4096, PROT_NONE);
  }
}

Stacks::~Stacks() {
  munmap(memory_, bytes_);
}

Block*& Block::current() {
  static thread_local Block* block = nullptr;
  return block;
}

Block::Block(const KernelCall& call, const SharedPlace& shared, const ModulePlace& module, GlobalMemory& memory)
    : call_(call),
      module_(module),
      memory_(memory),
      place_(shared),
      shared_(shared, module.begin),
      order_(count_of(call.block)),
      stacks_(count_of(call.block)),
      fibers_(count_of(call.block)),
      live_lanes_((count_of(call.block) + kWarp - 1) / kWarp),
      in_warp_(live_lanes_.size()) {}

unsigned Block::draw(unsigned below) {
  random_ ^= random_ << 13;  // Marsaglia's xorshift64
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<unsigned>((random_ >> 32) * below >> 32);
}

void Block::start(const Triple& index) {
  shared_.begin_block(!order_.begin_block());
  live_ = static_cast<unsigned>(fibers_.size());
  ready_.clear();
  for (auto& waiting : barriers_) {
    waiting.clear();
  }
  std::ranges::fill(in_warp_, 0);
  const Triple& size = call_.block;
  for (unsigned i = 0; i < live_; ++i) {
    stacks_.thread(i) = {.thread = {i % size.x, i / size.x % size.y, i / size.x / size.y},
                         .block = index,
                         .block_dim = size,
                         .grid_dim = call_.grid,
                         .number = i};
    Fiber& fiber = fibers_[i];
    fiber = Fiber{};
    fiber.context = context::make_fcontext(stacks_.top(i), Stacks::kUsable, [](context::transfer_t from) {
      *static_cast<Context*>(from.data) = from.fctx;
      current()->body();
    });
    ready_.push_back(i);
    live_lanes_[i / kWarp] |= 1u << i % kWarp;
  }
}

std::optional<Finding> Block::run(const Triple& index, std::uint64_t seed) {
  random_ = seed | 1;
  found_.reset();
  doubt_.bytes = 0;
  finishing_ = false;
  current() = this;
  start(index);
  std::swap(ready_[draw(live_)], ready_.back());
  running_ = ready_.back();
  ready_.pop_back();
  context::jump_fcontext(fibers_[running_].context, &scheduler_);
  current() = nullptr;
  if (!found_ && live_ > 0) {
    found_ = stuck();
  }
  return std::exchange(found_, std::nullopt);
}

void Block::body() {
  call_.entry(call_.arguments);
  leave();
}

// The running thread has returned from the kernel.
void Block::leave() {
  settle();
  fibers_[running_].state = State::done;
  --live_;
  const unsigned warp = running_ / kWarp;
  live_lanes_[warp] &= ~(1u << running_ % kWarp);
  if (!barriers_[0].empty()) {
    const unsigned other = barriers_[0].front();
    give_up("barrier divergence",
            "it has exited while thread " + thread_name(other) + " waits at " + waits_where(other),
            "end of the kernel");
  }
  lanes_left(warp);
  next();
}

// Switches to another thread; to the caller of run() if there is none.
void Block::next() {
  Fiber& old = fibers_[running_];
  Context target = scheduler_;
  if (!ready_.empty()) {
    std::swap(ready_[draw(static_cast<unsigned>(ready_.size()))], ready_.back());
    running_ = ready_.back();
    ready_.pop_back();
    if (&fibers_[running_] == &old) {
      return;
    }
    target = fibers_[running_].context;
  }
  const context::transfer_t from = context::jump_fcontext(target, &old.context);
  *static_cast<Context*>(from.data) = from.fctx;
}

void Block::wait(State state) {
  fibers_[running_].state = state;
  next();
}

void Block::yield() {
  ready_.push_back(running_);
  next();
}

void Block::give_up(const char* kind, const std::string& what, const std::string& line) {
  found_ = finding(kind, running_, what, line);
  Context abandoned = nullptr;
  context::jump_fcontext(scheduler_, &abandoned);
  __builtin_unreachable();
}

std::string Block::thread_name(unsigned number) const {
  return text_of(stacks_.thread(number).thread);
}

Finding Block::finding(const char* kind, unsigned number, const std::string& what, const std::string& line) const {
  return {.kind = kind,
          .sentence = std::string(kind) + " in kernel " + call_.kernel + ", block " +
                      text_of(stacks_.thread(number).block) + ", thread " + thread_name(number) + ", " + line + ": " +
                      what};
}

// A write that came without a barrier after another thread's is done by now: did it change anything?
void Block::settle() {
  if (doubt_.bytes == 0) {
    return;
  }
  const std::size_t bytes = std::exchange(doubt_.bytes, 0);
  if (std::memcmp(doubt_.before.data(), reinterpret_cast<const void*>(doubt_.address), bytes) != 0) {
    give_up(doubt_.mistake.name(), shared_.sentence(doubt_.mistake), source_line(doubt_.code));
  }
}

void Block::access(std::uintptr_t address, std::size_t bytes, Access kind, bool aligned, const void* code) {
  if (finishing_) {
    return;  // an operation of the warp, which reads what all its lanes brought
  }
  settle();
  const char* wrong = nullptr;
  std::string what;
  if (aligned && (address & (bytes - 1)) != 0) {
    wrong = "misaligned access";
    what = fmt::format("it touches {0} bytes at an address that is {1} beyond a multiple of {0}", bytes,
                       address & (bytes - 1));
  } else if (shared_.holds(address)) {
    if (!call_.loads_seen) {
      return;
    }
    const SharedMistake* mistake = shared_.access(order_, running_, address, bytes, kind, code);
    if (mistake == nullptr) {
      return;
    }
    if (mistake->unless_same() && bytes <= doubt_.before.size()) {
      doubt_ = {.bytes = bytes, .address = address, .mistake = *mistake, .code = code, .before = {}};
      std::memcpy(doubt_.before.data(), reinterpret_cast<const void*>(address), bytes);
      return;
    }
    wrong = mistake->name();
    what = shared_.sentence(*mistake);
  } else if (memory_.holds(address)) {
    if (!call_.loads_seen) {
      return;
    }
    auto mistake = memory_.access(address, bytes, kind, buffer_hint_);
    if (!mistake) {
      return;
    }
    wrong = mistake->kind;
    what = std::move(mistake->what);
  } else if (address - module_.begin < module_.end - module_.begin) {
    return;  // variables of the module
  } else {
    wrong = "out-of-bounds access";
    what = stacks_.holds(address) ? "it touches the local memory of another thread"
                                  : fmt::format("it touches {} bytes that belong to no buffer", bytes);
  }
  give_up(wrong, what, source_line(code));
}

void Block::start_copy(const Copy& copy) {
  const bool size = copy.bytes == 4 || copy.bytes == 8 || copy.bytes == 16;
  if (!size || copy.zeros > copy.bytes) {
    give_up("misaligned access", fmt::format("an asynchronous copy of {} bytes: it takes 4, 8 or 16", copy.bytes),
            source_line(copy.code));
  }
  if (!shared_.holds(copy.to)) {
    give_up("out-of-bounds access", "an asynchronous copy whose destination is not shared memory",
            source_line(copy.code));
  }
  if (((copy.to | copy.from) & (copy.bytes - 1)) != 0) {
    access(copy.to, copy.bytes, Access::write, true, copy.code);
    access(copy.from, copy.bytes, Access::read, true, copy.code);
  }
  if (copy.bytes > copy.zeros) {
    access(copy.from, copy.bytes - copy.zeros, Access::read, false, copy.code);
  }
  access(copy.to, copy.bytes, Access::write, true, copy.code);
  shared_.start_copy(running_, copy.to, copy.bytes, copy.code);
  fibers_[running_].started.push_back(copy);
}

void Block::land(const Copy& copy) {
  shared_.end_copy(copy.to, copy.bytes);
  access(copy.to, copy.bytes, Access::write, true, copy.code);
  auto* to = reinterpret_cast<char*>(copy.to);
  std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.bytes - copy.zeros);
  std::memset(to + copy.bytes - copy.zeros, 0, copy.zeros);
}

void Block::wait_copies(unsigned left) {
  auto& groups = fibers_[running_].groups;
  for (; groups.size() > left; groups.pop_front()) {
    for (const Copy& copy : groups.front()) {
      land(copy);
    }
  }
}

// The table of calls for the object under check.
const apo_cpu::Runtime& Block::runtime() {
  using apo_cpu::Line;
  using apo_cpu::Size;
  static constexpr apo_cpu::Runtime kRuntime{
      .access = [](Address address, Size bytes, Access kind, bool aligned,
                   const void* code) { current()->access(address, bytes, kind, aligned, code); },
      .barrier =
          [](apo_cpu::Barrier* barrier) {
            current()->settle();
            current()->barrier(*barrier);
          },
      .collective =
          [](apo_cpu::Collective* collective) {
            current()->settle();
            current()->collective(*collective);
          },
      .yield =
          [] {
            current()->settle();
            current()->yield();
          },
      .start_copy =
          [](Address to, Address from, Size bytes, Size zeros, const void* code) {
            current()->start_copy({to, from, bytes, zeros, code});
          },
      .commit_copies =
          [] {
            Fiber& fiber = current()->fibers_[current()->running_];
            fiber.groups.push_back(std::exchange(fiber.started, {}));
          },
      .wait_copies = [](unsigned left) { current()->wait_copies(left); },
      .bad_pointer =
          [](const char* type, unsigned alignment, Address address, Line line) {
            current()->give_up("misaligned access",
                               fmt::format("it uses a {}, which is aligned to {} bytes, at an address that is {} "
                                           "beyond a multiple of that",
                                           type, alignment, address % alignment),
                               name_of(line));
          },
      .bad_index =
          [](const char* array, Address index, Line line) {
            current()->give_up("out-of-bounds access",
                               fmt::format("it uses index {} of {}", static_cast<long long>(index), array),
                               name_of(line));
          },
      .fail = [](const char* kind, const char* what, Line line) { current()->give_up(kind, what, name_of(line)); },
      .shared_offset = [](const void* address) { return reinterpret_cast<Address>(address) - current()->place_.begin; },
      .shared_address = [](Address offset) { return reinterpret_cast<void*>(current()->place_.begin + offset); },
      .clock = []() -> Address { return ++current()->steps_; },
  };
  return kRuntime;
}

}  // namespace apo::executor
