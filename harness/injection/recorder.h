// harness/injection/recorder.h - sums up CUPTI's records in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/core/recording/application_profile.h"
#include "harness/injection/ranges.h"

namespace apo {

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
  ProcessRecording summary() const;
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
