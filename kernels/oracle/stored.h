// kernels/oracle/stored.h - the part of a tensor that a unit has, as the request stores it, and the numbers that a
// reference reads of it.
//
// A small part is converted before the call. Of a large one the reference gets addresses without memory: the first
// access to a stretch is a fault, which converts that stretch and no other. A look-up converts the rows that it reads.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/oracle/call.h"
#include "kernels/random.h"

namespace apo::oracle {

struct StoredPart {
  const std::byte* tensor = nullptr;
  DType dtype = DType::f64;
  std::vector<std::int64_t> runs;  // where each begins in the tensor
  std::int64_t run = 0;            // elements of each
  std::int64_t count() const { return std::ssize(runs) * run; }
};

inline std::atomic<std::int64_t> numbers_read = 0;  // by all calls of the program

// Converts elements [first, first + count) of the part to doubles.
inline void read_doubles(const StoredPart& part, std::int64_t first, std::int64_t count, double* to) {
  with_dtype(part.dtype, [&]<DType kDType>() {
    while (count > 0) {
      const std::int64_t in_run = first % part.run;
      const std::int64_t now = std::min(count, part.run - in_run);
      const std::int64_t begin = part.runs[static_cast<std::size_t>(first / part.run)] + in_run;
      read_stored<kDType>(part.tensor + begin * dtype_bytes(kDType), now, to);
      first += now;
      count -= now;
      to += now;
    }
  });
}

// Converts them to the numbers of a call.
inline void read_numbers(const StoredPart& part, const NumberType& type, std::int64_t first, std::int64_t count,
                         std::byte* to) {
  constexpr std::int64_t kAtOnce = 1024;
  double values[kAtOnce];
  numbers_read += count;
  for (std::int64_t done = 0; done < count; done += kAtOnce) {
    const std::int64_t now = std::min(kAtOnce, count - done);
    read_doubles(part, first + done, now, values);
    type.from_doubles(values, now, to + done * type.bytes);
  }
}

// Addresses of a part whose numbers are there once they are read. The stretch that was read first goes where more than
// kMost are there, until it shows that all of them are needed again and again. There are kPlaces of them, which stay:
// any thread may look for the one that it met.
class ReadOnFault {
 public:
  static constexpr std::size_t kStretch = std::size_t{1} << 16;  // bytes
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kPlaces = 1024;

  // The part has to outlive it.
  static ReadOnFault* take(const StoredPart& part, const NumberType& type) {
    static const bool watched = watch();
    for (ReadOnFault& place : places) {
      if (watched && !place.taken_.exchange(true)) {
        place.begin(part, type);
        return &place;
      }
    }
    throw std::runtime_error("too many large tensors at once");
  }
  void give_back() {
    const Turn turn(busy_);
    munmap(memory_, bytes_);
    memory_ = nullptr;
    bytes_ = 0;
    if (slots_ > kMost) {
      close_file();
    }
    taken_ = false;
  }
  std::byte* memory() const { return memory_; }

 private:
  struct Turn {
    explicit Turn(std::atomic_flag& flag) : busy(flag) {
      while (busy.test_and_set()) {
      }
    }
    ~Turn() { busy.clear(); }
    std::atomic_flag& busy;
  };

  static bool watch() {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return sigaction(SIGSEGV, &action, nullptr) == 0;
  }
  // What lies elsewhere is a fault as ever.
  static void on_fault(int signal, siginfo_t* info, void*) {
    const int before = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const bool found = std::ranges::any_of(places, [&](ReadOnFault& place) { return place.bring(address); });
    errno = before;
    if (!found) {
      ::signal(signal, SIG_DFL);
    }
  }
  static std::byte* checked(void* memory) {
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    return static_cast<std::byte*>(memory);
  }
  static std::byte* addresses(void* at, std::size_t bytes) {
    const int fixed = at == nullptr ? 0 : MAP_FIXED;
    return checked(mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0));
  }

  void begin(const StoredPart& part, const NumberType& type) {
    const Turn turn(busy_);
    part_ = &part;
    type_ = type;
    const auto bytes = static_cast<std::size_t>(part.count() * type.bytes);
    there_.assign((bytes + kStretch - 1) / kStretch, 0);
    brought_ = 0;
    if (slots_ == 0) {
      open_file(kMost);
    }
    memory_ = addresses(nullptr, there_.size() * kStretch);
    bytes_ = there_.size() * kStretch;
  }
  // Memory for so many stretches, which serves later calls too.
  void open_file(std::size_t slots) {
    file_ = file_ < 0 ? memfd_create("numbers", MFD_CLOEXEC) : file_;
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(slots * kStretch)) != 0) {
      throw std::bad_alloc();
    }
    if (slots_ > 0) {
      munmap(slot_memory_, slots_ * kStretch);
    }
    slots_ = slots;
    slot_memory_ = checked(mmap(nullptr, slots * kStretch, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
  }
  void close_file() {
    munmap(slot_memory_, slots_ * kStretch);
    close(file_);
    slots_ = 0;
    file_ = -1;
  }

  bool has(std::uintptr_t address) const { return address - reinterpret_cast<std::uintptr_t>(memory_.load()) < bytes_; }
  // Another thread sees all of a stretch or nothing: it gets its place when it is whole.
  bool bring(std::uintptr_t address) {
    if (!has(address)) {
      return false;
    }
    const Turn turn(busy_);
    if (!has(address)) {
      return false;
    }
    const std::size_t stretch = (address - reinterpret_cast<std::uintptr_t>(memory_.load())) / kStretch;
    if (there_[stretch] == 0) {
      const std::size_t slot = free_slot();
      const std::int64_t fits = static_cast<std::int64_t>(kStretch) / type_.bytes;
      const std::int64_t first = static_cast<std::int64_t>(stretch) * fits;
      read_numbers(*part_, type_, first, std::min(fits, part_->count() - first), slot_memory_ + slot * kStretch);
      checked(mmap(memory_ + stretch * kStretch, kStretch, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED | MAP_POPULATE, file_, static_cast<off_t>(slot * kStretch)));
      there_[stretch] = 1;
      ++brought_;
      if (slot < kMost) {
        in_slot_[slot] = stretch;
      }
    }
    return true;
  }
  std::size_t free_slot() {
    constexpr std::size_t kAgain = 16;
    const std::size_t all = there_.size();
    if (all > kMost && brought_ == kAgain * all) {
      open_file(kMost + all);
    }
    if (brought_ < kMost || slots_ > kMost) {
      return slots_ > kMost ? brought_ - kAgain * all + kMost : brought_;
    }
    const std::size_t slot = brought_ % kMost;
    addresses(memory_ + in_slot_[slot] * kStretch, kStretch);
    there_[in_slot_[slot]] = 0;
    return slot;
  }

  static ReadOnFault places[kPlaces];

  std::atomic<bool> taken_ = false;
  std::atomic_flag busy_;  // of all below
  std::atomic<std::byte*> memory_ = nullptr;
  std::atomic<std::size_t> bytes_ = 0;
  const StoredPart* part_ = nullptr;
  NumberType type_;
  std::vector<char> there_;  // by stretch
  std::size_t brought_ = 0;
  int file_ = -1;
  std::byte* slot_memory_ = nullptr;  // of the file
  std::size_t slots_ = 0;
  std::array<std::size_t, kMost> in_slot_ = {};  // the stretch that is there
};
inline ReadOnFault ReadOnFault::places[kPlaces];

// The numbers of one tensor in a call.
class Numbers {
 public:
  // The part has to outlive them. `changes`: the reference writes to them.
  Numbers(const StoredPart& part, const NumberType& type, bool changes, bool at_once) {
    constexpr std::int64_t kLarge = std::int64_t{1} << 17;
    if (at_once || changes || part.count() < kLarge) {
      own_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(part.count() * type.bytes));
      read_numbers(part, type, 0, part.count(), own_.get());
    } else {
      on_fault_.reset(ReadOnFault::take(part, type));
    }
  }
  // All of them are `value`.
  Numbers(std::int64_t count, const NumberType& type, double value)
      : own_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count * type.bytes))) {
    for (std::int64_t i = 0; i < count; ++i) {
      type.from_doubles(&value, 1, own_.get() + i * type.bytes);
    }
  }
  std::byte* data() const { return on_fault_ ? on_fault_->memory() : own_.get(); }

 private:
  struct GiveBack {
    void operator()(ReadOnFault* taken) const { taken->give_back(); }
  };
  std::unique_ptr<std::byte[]> own_;
  std::unique_ptr<ReadOnFault, GiveBack> on_fault_;
};

}  // namespace apo::oracle
