// harness/injection/recorder.h - sums up CUPTI's records in bounded memory, by kernel and by NVTX range.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/core/applications/application_profile.h"

namespace apo {

// The largest number of places in the nesting of ranges; ranges pushed beyond them count for their parent.
inline constexpr std::size_t kMostRanges = 1024;
inline constexpr std::size_t kMostRangeName = 200;  // bytes
inline constexpr std::size_t kMostRangeDepth = 64;  // of one thread; deeper ones count for the one that holds them
inline constexpr std::uint32_t kMostLaunches = std::uint32_t{1} << 18;

// The NVTX ranges of the threads, and the launches within each. Pushing and popping takes a lock; a launch takes none,
// because it is what is measured. Of launches only the newest kMostLaunches are known: CUPTI's records come later, but
// not that late.
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

// The limit on rows of different ranges, so that the file stays small.
inline constexpr std::size_t kMostRangeRows = 65'536;
// The largest number of distinct kernels; the others share one row.
inline constexpr std::size_t kMostKernels = 4096;
inline constexpr std::size_t kMostNameBytes = std::size_t{16} << 20;  // of all names together
inline constexpr const char* kOtherKernels = "(kernels beyond the first 4096)";

class Recorder {
 public:
  // `ranges` assigns work to ranges; without them no work has a range.
  explicit Recorder(const Ranges* ranges = nullptr) : ranges_(ranges) {}

  // Adds one record of CUPTI, and ignores kinds other than kernel, copy and fill.
  void add(const void* record);
  // Call it after each buffer: the names that records point to live only as long as the buffer.
  void forget_names() { by_pointer_.clear(); }
  // Fills work and devices; the caller fills the rest.
  ProcessTimes summary() const;
  std::int64_t records() const { return records_; }

 private:
  void add_kernel(const void* record);
  void add_copy(const void* record);
  void add_fill(const void* record);
  // `row` numbers kernels, then copies, then fills.
  void add_call(GpuWork& work, std::size_t row, std::uint32_t device, std::uint64_t start, std::uint64_t end,
                std::uint64_t bytes, std::uint32_t correlation);
  std::vector<NvtxRange> ranges_with(const std::map<std::size_t, std::size_t>& work_of_row) const;
  std::size_t kernel_row(const char* name);

  std::vector<GpuWork> kernels_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<const char*, std::size_t> by_pointer_;
  std::size_t name_bytes_ = 0;
  std::array<GpuWork, kDirections + 1> copies_;  // by direction; the last one: any other
  GpuWork fills_{.kind = WorkKind::fill, .name = "memset"};
  std::map<std::uint32_t, GpuTimeline> devices_;
  std::int64_t untimed_ = 0;
  std::int64_t records_ = 0;
  const Ranges* ranges_;
  std::map<std::pair<std::uint32_t, std::size_t>, RangeWork> in_ranges_;  // by place and row
};

}  // namespace apo
