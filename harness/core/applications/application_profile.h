// harness/core/applications/application_profile.h - records of where the GPU time of a whole application went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/words.h"

namespace apo {

enum class WorkKind : std::uint8_t { kernel, copy, fill };
APO_WORDS(WorkKind, work_kind_from, kernel, copy, fill)

// Names the directions of CUPTI: 1 is "memcpy HtoD". There are kDirections of them; any other number is "memcpy of
// another kind".
const char* copy_name(std::int64_t direction);
inline constexpr std::int64_t kDirections = 11;

// All calls of one kernel, all copies of one direction, or all fills.
struct GpuWork {
  WorkKind kind = WorkKind::kernel;
  std::string name;
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t bytes = 0;  // of copies and fills
  bool operator==(const GpuWork&) const = default;
};
APO_FIELDS(GpuWork, kind, name, calls, total_ns, min_ns, max_ns, bytes)

// Work launched in one range or in a range within it.
struct RangeWork {
  std::size_t work = 0;  // of ProcessTimes::work
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  bool operator==(const RangeWork&) const = default;
};
APO_FIELDS(RangeWork, work, calls, total_ns)

// One place in the nesting of NVTX ranges. It covers all ranges of one name inside the same parent range.
struct NvtxRange {
  std::string name;
  std::int64_t parent = -1;  // of ProcessTimes::ranges, before this one; -1: in no other
  std::int64_t entered = 0;
  std::vector<RangeWork> work;  // in this range itself, not in those within it
  bool operator==(const NvtxRange&) const = default;
};
APO_FIELDS(NvtxRange, name, parent, entered, work)

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

// The recording of one process.
struct ProcessTimes {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::string program;    // its command line
  std::string library;    // the CUPTI that recorded
  std::string missing;    // one sentence when nothing could be recorded
  bool complete = false;  // false: it ended without its exit handlers, and its last moments are lost
  std::int64_t dropped = 0;
  std::int64_t untimed = 0;  // records without a time: work that had not ended
  std::vector<GpuWork> work;
  std::vector<DeviceBusy> devices;
  std::vector<NvtxRange> ranges;
  bool operator==(const ProcessTimes&) const = default;
};
APO_FIELDS(ProcessTimes, pid, parent, program, library, missing, complete, dropped, untimed, work, devices, ranges)

struct ApplicationProfile {
  std::string command;
  std::optional<int> exit_code;
  int signal = 0;      // that ended the command
  double seconds = 0;  // wall time of the command; 0 when unknown
  std::string device;  // the GPU's name, when known
  std::vector<ProcessTimes> processes;
  std::vector<std::string> notes;  // missing numbers with the reasons
};

// ---- what follows from a profile

struct WorkRow {
  GpuWork work;  // of all processes; kernels by their readable names
  std::string category;
  double share = 0;    // of total_ns
  double ceiling = 1;  // 1 / (1 - share): Amdahl's bound when it took no time; infinite for a share of 1
  bool operator==(const WorkRow&) const = default;
};

struct CategoryRow {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  double share = 0;
  double ceiling = 1;
  bool operator==(const CategoryRow&) const = default;
};
APO_FIELDS(CategoryRow, name, calls, total_ns, share, ceiling)

// All ranges of one name inside the same parent. Rows are depth first, the longest first.
struct RangeRow {
  std::string name;
  std::string path;  // "step / forward"
  int depth = 0;
  std::int64_t entered = 0;
  std::int64_t calls = 0;               // launched in it and in the ranges within
  std::int64_t total_ns = 0;            // of these
  std::int64_t own_ns = 0;              // without the ranges within
  double share = 0;                     // of the work's total_ns
  std::vector<CategoryRow> categories;  // of total_ns; shares are of the range's
  bool operator==(const RangeRow&) const = default;
};

struct ApplicationSummary {
  std::int64_t total_ns = 0;  // of all work; more than busy_ns where work overlapped
  std::int64_t span_ns = 0;   // of all GPUs and processes
  std::int64_t busy_ns = 0;
  std::int64_t longest_gap_ns = 0;
  std::array<Gaps, kGapLimits.size() + 1> gaps{};
  std::vector<WorkRow> work;            // by time
  std::vector<CategoryRow> categories;  // by time; a partition: their total_ns add up to total_ns
  std::vector<RangeRow> ranges;
  double idle_share() const;  // of the span; NaN without one
};

}  // namespace apo
