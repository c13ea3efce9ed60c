// harness/executor/block.cpp - runs fibers, and checks each of their accesses.
#include "harness/executor/block.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "harness/executor/host_call.h"

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

// The place of number `i` in a box, x fastest.
Triple triple_of(std::uint64_t i, const Triple& box) {
  return {static_cast<unsigned>(i % box.x), static_cast<unsigned>(i / box.x % box.y),
          static_cast<unsigned>(i / box.x / box.y)};
}

constexpr const char* kGlobalRace = "global-memory race";

unsigned count_of(const Triple& t) {
  return t.x * t.y * t.z;
}

}  // namespace

// One mapping, of which only touched pages use memory.
Stacks::Stacks(unsigned count, bool with_guards) : bytes_((count + std::size_t{1}) * kStackBytes), count_(count) {
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) {
    throw std::bad_alloc();
  }
  begin_ = (reinterpret_cast<std::uintptr_t>(memory_) + kStackBytes - 1) / kStackBytes * kStackBytes;
  for (unsigned i = 0; with_guards && i < count; ++i) {
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

Block::Block(const KernelCall& call, const SharedPlace& shared, LaunchPlace& launch, std::size_t cpu,
             GlobalMemory& memory)
    : call_(call),
      launch_(launch),
      storing_(launch.storing[cpu]),
      memory_(memory),
      place_(shared),
      shared_(shared, launch.object.begin),
      order_(count_of(call.block)),
      stacks_(count_of(call.block), !call.cooperative),
      fibers_(count_of(call.block)),
      live_lanes_((count_of(call.block) + kWarp - 1) / kWarp),
      in_warp_(live_lanes_.size()) {}

unsigned Block::draw(unsigned below) {
  random_ ^= random_ << 13;  // Marsaglia's xorshift64
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<unsigned>((random_ >> 32) * below >> 32);
}

// Its accesses are behind those of all blocks before.
void Block::enter_launch() {
  blocks_.begin_block(memory_.launch_order(), memory_.first_block() + static_cast<BlockNumber>(number_));
  storing_.block.store(blocks_.number());
}

void Block::start(std::uint64_t place) {
  number_ = place;
  shared_.begin_block(!order_.begin_block());
  enter_launch();
  live_ = static_cast<unsigned>(fibers_.size());
  ready_.clear();
  for (auto& waiting : barriers_) {
    waiting.clear();
  }
  std::ranges::fill(in_warp_, 0);
  const Triple& size = call_.block;
  for (unsigned i = 0; i < live_; ++i) {
    stacks_.thread(i) = {.thread = triple_of(i, size),
                         .block = triple_of(place, call_.grid),
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

std::optional<Finding> Block::run(std::uint64_t place, std::uint64_t seed) {
  random_ = seed | 1;
  found_.reset();
  doubt_.bytes = 0;
  unsettled_ = false;
  read_ = 0;
  finishing_ = false;
  current() = this;
  start(place);
  std::swap(ready_[draw(live_)], ready_.back());
  running_ = ready_.back();
  ready_.pop_back();
  context::jump_fcontext(fibers_[running_].context, &scheduler_);
  current() = nullptr;
  storing_.address.store(0);
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
  if (ready_.empty() && launch_.grid != nullptr) {
    std::this_thread::yield();  // it waits for another block, which may have no CPU
  }
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

// What an atomic read returned may be another block's; a write that nothing orders behind another one is a mistake if
// it has changed something.
void Block::settle_access() {
  unsettled_ = false;
  if (read_ != 0) {
    blocks_.read(order_, running_, std::exchange(read_, 0));
  }
  const std::size_t bytes = std::exchange(doubt_.bytes, 0);
  if (bytes == 0 || std::memcmp(doubt_.before.data(), reinterpret_cast<const void*>(doubt_.address), bytes) == 0) {
    return;
  }
  const std::string line = source_line(doubt_.code);
  if (doubt_.global) {
    give_up(kGlobalRace, sentence(*doubt_.global, doubt_.address), line);
  }
  give_up(doubt_.mistake.name(), shared_.sentence(doubt_.mistake), line);
}

// Keeps what the memory holds before the running thread's write.
void Block::doubt(std::uintptr_t address, std::size_t bytes, const void* code) {
  doubt_.bytes = bytes;
  doubt_.address = address;
  doubt_.code = code;
  doubt_.global.reset();
  std::memcpy(doubt_.before.data(), reinterpret_cast<const void*>(address), bytes);
  unsettled_ = true;
}

std::string Block::sentence(const GlobalRace& race, std::uintptr_t address) const {
  const auto in_launch = std::uint64_t{race.other} - memory_.first_block();
  const bool same_block = race.other == blocks_.number();
  const std::string who = "thread " + text_of(triple_of(race.others_thread, call_.block)) +
                          (same_block ? "" : " of block " + text_of(triple_of(in_launch, call_.grid)));
  const std::string where =
      race.others_code == 0
          ? ""
          : " at " + source_line(reinterpret_cast<const void*>(launch_.object.begin + race.others_code));
  const Buffer& buffer = memory_.buffer(buffer_);
  const std::string what = memory_.variables().holds(address)
                               ? "a variable of the file"
                               : fmt::format("byte {} of {}", address - buffer.begin, buffer.name);
  return fmt::format("it {} {}, which {} {}{} with {}", race.reads ? "reads" : "writes", what, who,
                     race.other_read ? "reads" : "writes", where,
                     same_block ? "no barrier between"
                                : "no order between: a fence with an atomic behind it, and an atomic read of that, "
                                  "order two blocks");
}

// Another CPU may have noted a store that it has not done yet. Returns false where it waits itself, maybe for this one,
// and is to go last: it will compare what this one stores with its own.
bool Block::await_store(BlockNumber block, std::uintptr_t address, std::size_t bytes) const {
  constexpr std::uintptr_t kLongest = 16;
  for (const Storing& other : launch_.storing) {
    const auto under_way = [&] {
      const std::uintptr_t at = other.address.load(std::memory_order_acquire);
      return other.block.load() == block && at + kLongest > address && at < address + bytes;
    };
    while (&other != &storing_ && under_way()) {
      storing_.waiting.store(true);
      if (&other > &storing_ && other.waiting.load()) {
        storing_.waiting.store(false);
        return false;
      }
      std::this_thread::yield();
    }
  }
  storing_.waiting.store(false);
  return true;
}

void Block::check_global(GlobalShadow& shadow, std::uintptr_t begin, std::uintptr_t address, std::size_t bytes,
                         Access kind, const void* code) {
  if (memory_.first_block() == 0) {
    return;
  }
  const GlobalVisit visit = this->visit(kind, code);
  begin_store(address, kind);
  if (shadow.access_own(visit, address - begin, bytes)) {
    return;
  }
  const std::optional<GlobalRace> race = shadow.access(visit, address - begin, bytes);
  const bool seen_by_blocks = is_atomic(kind) && kind != Access::block_atomic;
  if (seen_by_blocks && writes(kind)) {
    blocks_.wrote(order_, running_, address);
  }
  if (seen_by_blocks && reads(kind)) {
    read_ = address;
    unsettled_ = true;
  }
  if (!race) {
    return;
  }
  if (race->unless_same() && bytes <= doubt_.before.size()) {
    if (await_store(race->other, address, bytes)) {
      doubt(address, bytes, code);
      doubt_.global = race;
    }
    return;
  }
  give_up(kGlobalRace, sentence(*race, address), source_line(code));
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
      doubt(address, bytes, code);
      doubt_.mistake = *mistake;
      return;
    }
    wrong = mistake->name();
    what = shared_.sentence(*mistake);
  } else if (memory_.holds(address)) {
    if (!call_.loads_seen) {
      return;
    }
    std::size_t& usual = buffers_[reinterpret_cast<std::uintptr_t>(code) / 4 % buffers_.size()];
    buffer_ = usual;
    if (!is_atomic(kind) && memory_.shadow(buffer_) != nullptr &&
        memory_.written_with(GlobalShadow::note_of(visit(kind, code)), address, bytes, buffer_)) {
      begin_store(address, kind);
      return;
    }
    auto mistake = memory_.access(address, bytes, kind, buffer_);
    usual = buffer_;
    if (!mistake) {
      if (GlobalShadow* shadow = memory_.shadow(buffer_); shadow != nullptr) {
        check_global(*shadow, memory_.buffer(buffer_).begin, address, bytes, kind, code);
      }
      return;
    }
    wrong = mistake->kind;
    what = std::move(mistake->what);
  } else if (writes(kind) && launch_.constants.holds(address)) {
    wrong = "write to constant memory";
    what = "it writes a __constant__ variable, which only the host may";
  } else if (launch_.object.holds(address)) {
    if (call_.loads_seen && memory_.variables().holds(address)) {
      check_global(memory_.shadow_of_variables(), memory_.variables().begin, address, bytes, kind, code);
    }
    return;
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
      .access =
          [](Address address, Size bytes, Access kind, bool aligned, const void* code) {
            if (Block* const block = current(); block != nullptr) {  // else host code
              block->access(address, bytes, kind, aligned, code);
            }
          },
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
            if (current() != nullptr) {
              current()->settle();
              current()->yield();
            }
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
      // No two calls are as far apart as the next two.
      .clock = []() -> Address { return current()->steps_ += Address{1} << current()->draw(12); },
      .fence =
          [] {
            current()->settle();
            current()->blocks_.fence(current()->order_, current()->running_);
          },
      .in_kernel = [] { return current() != nullptr; },
      .heap = [](Size bytes) { return current()->memory_.take_from_heap(bytes); },
      .launch = [](const apo_cpu::HostLaunch* launch) { return HostCall::current()->launch(*launch); },
      .allocate = [](void** memory, Size bytes) { return HostCall::current()->allocate(memory, bytes); },
      .release = [](void* memory) { return HostCall::current()->release(memory); },
      .touch = [](const void* memory, Size bytes,
                  bool writes) { return HostCall::current()->touch(memory, bytes, writes); },
      .absent =
          [](const char* name) {
            HostCall::current()->stop({.kind = "not checkable",
                                       .sentence = std::string("not checkable on the CPU: ") + name,
                                       .is_mistake = false});
          },
  };
  return kRuntime;
}

}  // namespace apo::executor
