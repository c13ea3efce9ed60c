// harness/worker/child/host_device.cpp - loads shared objects and calls them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/worker/child/device.h"
#include "harness/worker/child/host_library.h"
#include "harness/worker/protocol/clock.h"
#include "harness/worker/protocol/cold_cache.h"
#include "kernels/abi.h"

namespace apo {
namespace {

using Poisoner = void (*)(const volatile void*, std::size_t);

// The shared tensors in this process, with unmapped-looking space reserved on both sides.
class HostMapping {
 public:
  HostMapping() = default;
  HostMapping(const HostMapping&) = delete;
  HostMapping& operator=(const HostMapping&) = delete;
  ~HostMapping() { reset(); }

  bool map(int fd, std::int64_t bytes) {
    reset();
    const auto size = static_cast<std::size_t>(bytes);
    reserved_size_ = size + 2 * kTensorsReserve;
    reserved_ = mmap(nullptr, reserved_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved_ == MAP_FAILED) {
      return false;
    }
    base_ = static_cast<std::byte*>(reserved_) + kTensorsReserve;
    // Populated here, so that no timed call pays for the first touch of a page.
    return mmap(base_, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) != MAP_FAILED;
  }
  std::byte* base() const { return base_; }

 private:
  void reset() {
    if (reserved_ != MAP_FAILED) {
      munmap(reserved_, reserved_size_);
      reserved_ = MAP_FAILED;
    }
  }
  void* reserved_ = MAP_FAILED;
  std::size_t reserved_size_ = 0;
  std::byte* base_ = nullptr;
};

class HostDevice : public Device {
 public:
  HostDevice(int threads, SharedStatus& status) : threads_(threads), status_(status) {}
  std::optional<Failure> load(int slot, const std::string& path, const LaunchPlan& plan) override;
  Result<std::uint64_t> attach(const SharedTensorsLayout& layout, const FileDescriptor& file) override;
  Result<RawSample> run(const RunRequest& request, std::size_t index) override;
  std::optional<Failure> run_window() override;

 private:
  Launcher launcher(int slot) const;
  std::span<std::byte> bytes_of(const BufferPlace& place) const {
    return {mapping_.base() + place.offset, static_cast<std::size_t>(place.bytes)};
  }
  void shield_gaps() const;
  bool close_fences() const;
  std::vector<std::uint64_t> arguments(int slot, int set, int copy = 0) const;
  void fill_before_call(int set) const;
  void make_cold(int slot, int set) const;

  int threads_;
  SharedStatus& status_;
  HostMapping mapping_;
  SharedTensorsLayout layout_;
  std::array<Launcher, 2> launchers_{};
  std::vector<std::vector<std::uint64_t>> window_;  // the arguments of each call
};

std::optional<Failure> HostDevice::load(int slot, const std::string& path, const LaunchPlan&) {
  status_.running_slot.store(slot);  // constructors of the library run in here
  auto failure = load_library(path, slot, launchers_.at(static_cast<std::size_t>(slot)));
  status_.running_slot.store(-1);
  return failure;
}

Result<std::uint64_t> HostDevice::attach(const SharedTensorsLayout& layout, const FileDescriptor& file) {
  if (!mapping_.map(file.get(), layout.file_bytes())) {
    return Failure{Outcome::out_of_memory, std::string("cannot map the tensors: ") + std::strerror(errno)};
  }
  layout_ = layout;
  shield_gaps();
  if (!close_fences()) {
    return Failure{Outcome::out_of_memory,
                   std::string("cannot close the pages behind the inputs: ") + std::strerror(errno)};
  }
  window_.clear();
  for (int copy = 0; copy < layout.copies; ++copy) {
    window_.push_back(arguments(0, 0, copy));
  }
  return reinterpret_cast<std::uint64_t>(mapping_.base());
}

// Under AddressSanitizer an access outside every buffer is reported where it happens.
void HostDevice::shield_gaps() const {
  const auto poison = find_symbol<Poisoner>(RTLD_DEFAULT, "__asan_poison_memory_region");
  const auto unpoison = find_symbol<Poisoner>(RTLD_DEFAULT, "__asan_unpoison_memory_region");
  if (poison == nullptr || unpoison == nullptr) {
    return;
  }
  poison(mapping_.base(), static_cast<std::size_t>(layout_.bytes));
  for (const BufferPlace& place : layout_.buffers) {
    unpoison(bytes_of(place).data(), bytes_of(place).size());
  }
}

// Of the guard zone behind an input the first whole page; its other end keeps the pattern that stray writes spoil.
bool HostDevice::close_fences() const {
  const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  for (const BufferPlace& place : layout_.buffers) {
    const std::int64_t behind = (place.offset + place.bytes + page - 1) / page * page;
    if (layout_.fenced && place.role == BufferRole::input &&
        mprotect(mapping_.base() + behind, static_cast<std::size_t>(page), PROT_NONE) != 0) {
      return false;
    }
  }
  return true;
}

std::vector<std::uint64_t> HostDevice::arguments(int slot, int set, int copy) const {
  std::vector<std::uint64_t> words;
  for (const std::size_t i : layout_.of_call(slot, set)) {
    words.push_back(reinterpret_cast<std::uint64_t>(bytes_of(layout_.buffers[i]).data() + copy * layout_.stride));
  }
  words.insert(words.end(), layout_.words.begin(), layout_.words.end());
  return words;
}

// What a call reads and writes holds its contents again. The parent does the same before a single call and a window.
void HostDevice::fill_before_call(int set) const {
  for (const SharedTensorsLayout::Copy& copy : layout_.before_call(set)) {
    std::ranges::copy(bytes_of(layout_.buffers[copy.from]), bytes_of(layout_.buffers[copy.to]).begin());
  }
}

void HostDevice::make_cold(int slot, int set) const {
  std::vector<std::span<const std::byte>> ranges;
  for (const std::size_t i : layout_.of_call(slot, set)) {
    ranges.push_back(bytes_of(layout_.buffers[i]));
  }
  evict(ranges);
}

Launcher HostDevice::launcher(int slot) const {
  const Launcher launch = launchers_.at(static_cast<std::size_t>(slot));
  if (launch == nullptr || mapping_.base() == nullptr) {
    throw std::logic_error("asked to run before load and attach");
  }
  return launch;
}

Result<RawSample> HostDevice::run(const RunRequest& request, std::size_t index) {
  const int slot = request.order.at(index);
  const int set = request.sets.empty() ? 0 : request.sets.at(index);
  const Launcher launch = launcher(slot);
  const std::vector<std::uint64_t> words = arguments(slot, set);
  const apo_call call = call_on(words, threads_);
  RawSample sample{.slot = slot, .set = set};
  fill_before_call(set);
  if (request.cache == CachePolicy::cold) {
    make_cold(slot, set);
  }
  status_.running_slot.store(slot);
  const auto failure = guarded(slot, [&]() -> std::optional<Failure> {
    int code = 0;
    sample.begin_ns = raw_ns();
    for (int i = 0; i < request.repetitions && code == 0; ++i) {
      if (i > 0) {
        fill_before_call(set);
      }
      code = launch(&call);
    }
    sample.end_ns = raw_ns();
    return refusal(code, slot);
  });
  status_.running_slot.store(-1);
  if (failure) {
    return *failure;
  }
  return sample;
}

std::optional<Failure> HostDevice::run_window() {
  const Launcher launch = launcher(0);
  status_.running_slot.store(0);
  auto failure = guarded(0, [&]() -> std::optional<Failure> {
    int code = 0;
    for (std::size_t i = 0; i < window_.size() && code == 0; ++i) {
      const apo_call call = call_on(window_[i], threads_);
      code = launch(&call);
    }
    return refusal(code, 0);
  });
  status_.running_slot.store(-1);
  return failure;
}

}  // namespace

std::unique_ptr<Device> make_host_device(int threads, SharedStatus& status) {
  return std::make_unique<HostDevice>(threads, status);
}

}  // namespace apo
