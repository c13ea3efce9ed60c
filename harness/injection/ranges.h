// harness/injection/ranges.h - the NVTX ranges of an application's threads, and the launches within each.
//
// Pushing and popping takes a lock; a launch takes none, because it is what is measured. Of launches only the newest
// kMostLaunches are known: CUPTI's records come later, but not that late.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/recording/application_profile.h"

namespace apo {

// The largest number of places in the nesting of ranges; ranges pushed beyond them count for their parent.
inline constexpr std::size_t kMostRanges = 1024;
inline constexpr std::size_t kMostRangeName = 200;  // bytes
inline constexpr std::size_t kMostRangeDepth = 64;  // of one thread; deeper ones count for the one that holds them
inline constexpr std::uint32_t kMostLaunches = std::uint32_t{1} << 18;

class Ranges {
 public:
  // Acts on the calling thread. Both return the depth of that range as NVTX wants it, from 0; negative where there is
  // none. A domain's ranges nest among themselves: a pop ends the innermost one of its domain.
  int push(const void* domain, std::string_view name);
  int pop(const void* domain);
  // True when any range was pushed so far.
  bool used() const { return launches_.load(std::memory_order_acquire) != nullptr; }

  // Notes that the calling thread launches the work that CUPTI calls `correlation`. A thread without a range of its own
  // works for the only thread that has one, if there is just one, as the backward threads of PyTorch do.
  void launched(std::uint32_t correlation);
  // The number of a place in `places()`, from 1; 0 for what was launched outside all ranges.
  std::uint32_t of(std::uint32_t correlation) const;

  // Returns the places without their work. A parent comes before its children.
  std::vector<NvtxRange> places() const;

 private:
  using Launch = std::atomic<std::uint64_t>;  // correlation << 32 | place

  std::uint32_t place(std::uint32_t parent, std::string_view name);

  mutable std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> by_name_;
  std::vector<NvtxRange> places_;
  std::unique_ptr<Launch[]> storage_;
  std::atomic<Launch*> launches_{nullptr};
  std::atomic<int> threads_in_ranges_{0};
  std::atomic<std::uint32_t> newest_{0};  // the innermost range of the thread that pushed or popped last
};

}  // namespace apo
