// harness/executor/host_call.cpp - runs the launches in the order of the calls, on memory that the call owns.
#include "harness/executor/host_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace apo::executor {
namespace {

// Of cudaError_t.
constexpr int kInvalidValue = 1;
constexpr int kMemoryAllocation = 2;
constexpr int kInvalidConfiguration = 9;
constexpr int kCooperativeLaunchTooLarge = 720;

// Whether all blocks run at once: 132 SMs have 2048 threads each, and 32 blocks.
bool fits_at_once(const apo_cpu::HostLaunch& asked) {
  const std::uint64_t threads = asked.block.x * asked.block.y * asked.block.z;
  const std::uint64_t blocks = std::uint64_t{asked.grid.x} * asked.grid.y * asked.grid.z;
  return blocks <= 132 * std::min<std::uint64_t>(32, 2048 / threads);
}

// CUDA C++ Programming Guide, "Technical Specifications"
bool is_possible(const apo_cpu::HostLaunch& asked) {
  const auto within = [](const apo_cpu::Triple& size, unsigned x, unsigned y, unsigned z) {
    return size.x - 1 < x && size.y - 1 < y && size.z - 1 < z;
  };
  constexpr unsigned kMostShared = 232448;
  return within(asked.grid, 2147483647, 65535, 65535) && within(asked.block, 1024, 1024, 64) &&
         std::uint64_t{asked.block.x} * asked.block.y * asked.block.z <= 1024 && asked.shared_bytes <= kMostShared;
}

}  // namespace

HostCall::HostCall(GlobalMemory& memory, Launch launch) : memory_(memory), launch_(std::move(launch)) {
  current() = this;
}

HostCall::~HostCall() {
  current() = nullptr;
}

HostCall*& HostCall::current() {
  static HostCall* call = nullptr;
  return call;
}

void HostCall::stop(Finding finding) {
  found_ = std::move(finding);
  throw Stopped{};
}

int HostCall::launch(const apo_cpu::HostLaunch& asked) {
  const std::lock_guard lock(launching_);
  const bool is_too_large = is_possible(asked) && asked.cooperative && !fits_at_once(asked);
  if (is_too_large || !is_possible(asked)) {
    const auto text = [](const apo_cpu::Triple& size) { return fmt::format("({},{},{})", size.x, size.y, size.z); };
    impossible_ = fmt::format("no GPU takes the launch of {}: grid {}, block {}, {} bytes of shared memory",
                              asked.kernel, text(asked.grid), text(asked.block), asked.shared_bytes);
    return is_too_large ? kCooperativeLaunchTooLarge : kInvalidConfiguration;
  }
  auto finding = launch_(asked);
  if (finding) {
    stop(std::move(*finding));
  }
  return 0;
}

int HostCall::allocate(void** memory, std::size_t bytes) {
  const std::uintptr_t begin = memory_.allocate(fmt::format("an allocation of {} bytes", bytes), bytes);
  *memory = reinterpret_cast<void*>(begin);
  return begin == 0 ? kMemoryAllocation : 0;
}

int HostCall::release(void* memory) {
  return memory == nullptr || memory_.release(reinterpret_cast<std::uintptr_t>(memory)) ? 0 : kInvalidValue;
}

int HostCall::touch(const void* memory, std::size_t bytes, bool writes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (!memory_.holds(address) || bytes == 0) {
    return memory == nullptr && bytes > 0 ? kInvalidValue : 0;  // else the host's own
  }
  if (const auto mistake = memory_.touch(address, bytes, writes)) {
    stop({.kind = mistake->kind, .sentence = fmt::format("{} in host code: {}", mistake->kind, mistake->what)});
  }
  return 0;
}

}  // namespace apo::executor
