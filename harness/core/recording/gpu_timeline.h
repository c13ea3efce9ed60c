// harness/core/recording/gpu_timeline.h - sums up a GPU's busy and idle time from intervals in nearly any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/core/json/fields.h"

namespace apo {

// Classes of idle gaps: each holds gaps up to `limits[i]` ns, and the last has no limit.
inline constexpr std::array<std::int64_t, 6> kGapLimits = {1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

struct Gaps {
  std::int64_t count = 0;
  std::int64_t ns = 0;
  bool operator==(const Gaps&) const = default;
};
APO_FIELDS(Gaps, count, ns)

// The time of one GPU from the start of its first kernel, copy or fill to the end of its last.
struct DeviceBusy {
  int device = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t busy_ns = 0;  // at least one of them ran
  std::int64_t late = 0;     // intervals that came too late to be placed; busy_ns misses them
  std::int64_t longest_gap_ns = 0;
  std::array<Gaps, kGapLimits.size() + 1> gaps{};  // together last_ns - first_ns - busy_ns
  std::int64_t span_ns() const { return last_ns - first_ns; }
  bool operator==(const DeviceBusy&) const = default;
};
APO_FIELDS(DeviceBusy, device, first_ns, last_ns, busy_ns, late, longest_gap_ns, gaps)

// Unites intervals in bounded memory: only the newest ones are kept open for later ones that may overlap them.
class GpuTimeline {
 public:
  explicit GpuTimeline(std::size_t most_open = std::size_t{1} << 15) : most_open_(most_open) {}
  // Requires 0 <= start <= end, in ns.
  void add(std::int64_t start, std::int64_t end);
  DeviceBusy busy() const;  // of all that was added until now; its device is left 0

 private:
  struct Interval {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  static void close(DeviceBusy& total, const Interval& interval);
  void insert(const Interval& interval);

  std::size_t most_open_;
  std::vector<Interval> open_;  // disjoint, by start, all after closed_.last_ns
  DeviceBusy closed_;
  bool any_closed_ = false;
};

}  // namespace apo
