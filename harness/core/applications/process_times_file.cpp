// harness/core/applications/process_times_file.cpp - writes the times as JSON, and checks every number on reading.
#include "harness/core/applications/process_times_file.h"

#include <algorithm>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/json/codec.h"

namespace apo {
namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
// Keeps sums over all files of an application from overflowing: 115 days of GPU time in one process.
constexpr std::int64_t kMostNs = 10'000'000'000'000'000;
constexpr std::int64_t kMostCount = std::int64_t{1} << 50;
constexpr std::size_t kMostRangesOfAFile = 1024;
constexpr int kMostDepth = 64;

void require(bool holds, const std::string& lie) {
  if (!holds) {
    throw UserError("no recording of a process: " + lie);
  }
}

bool up_to(std::int64_t most, std::initializer_list<std::int64_t> numbers) {
  return std::ranges::all_of(numbers, [&](std::int64_t number) { return number >= 0 && number <= most; });
}

void check_work(const std::vector<GpuWork>& all) {
  std::int64_t total_ns = 0;
  for (const GpuWork& work : all) {
    require(work.calls > 0 && up_to(kMostCount, {work.calls}) && up_to(kAny / 1024, {work.bytes}) &&
                up_to(work.max_ns, {work.min_ns}) && work.max_ns <= work.total_ns,
            "calls and times that contradict each other");
    require(work.total_ns <= kMostNs - total_ns, "more time than a process can have");
    total_ns += work.total_ns;
  }
}

void check_device(const DeviceBusy& busy) {
  bool consistent = up_to(1'000'000, {busy.device}) && up_to(busy.last_ns, {busy.first_ns}) &&
                    up_to(kMostCount, {busy.late}) && up_to(kMostNs, {busy.busy_ns, busy.longest_gap_ns});
  std::int64_t all_ns = busy.busy_ns;
  for (const Gaps& gaps : busy.gaps) {
    consistent = consistent && up_to(kMostCount, {gaps.count}) && up_to(kMostNs, {gaps.ns});
    all_ns += consistent ? gaps.ns : 0;
  }
  require(consistent && busy.span_ns() <= kMostNs && all_ns == busy.span_ns(),
          "busy and idle times that do not make up the span");
}

// No work is in two ranges, so that their sum is at most the whole.
void check_ranges(const ProcessTimes& recording) {
  require(recording.ranges.size() <= kMostRangesOfAFile, "more ranges than are told apart");
  std::vector<int> depths;
  std::vector<RangeWork> claimed(recording.work.size());
  for (const NvtxRange& range : recording.ranges) {
    const auto before = static_cast<std::int64_t>(depths.size());
    require(range.parent >= -1 && range.parent < before && up_to(kMostCount, {range.entered}),
            "a range within one that is not there");
    depths.push_back(range.parent < 0 ? 0 : depths[static_cast<std::size_t>(range.parent)] + 1);
    require(depths.back() < kMostDepth, "more ranges than are told apart");
    for (const RangeWork& within : range.work) {
      require(within.work < claimed.size(), "work of a range that is not there");
      RangeWork& sum = claimed[within.work];
      const GpuWork& whole = recording.work[within.work];
      require(up_to(whole.calls - sum.calls, {within.calls}) && up_to(whole.total_ns - sum.total_ns, {within.total_ns}),
              "ranges with more work than there was");
      sum.calls += within.calls;
      sum.total_ns += within.total_ns;
    }
  }
}

}  // namespace

std::string encode_times(const ProcessTimes& recording) {
  return json_text(recording);
}

ProcessTimes decode_times(std::string_view text) {
  ProcessTimes recording;
  try {
    recording = from_json_text<ProcessTimes>(text);
  } catch (const nlohmann::json::exception& error) {
    require(false, error.what());
  } catch (const BadField& error) {
    require(false, error.what());
  }
  require(up_to(std::numeric_limits<int>::max(), {recording.pid, recording.parent}) &&
              up_to(kMostCount, {recording.dropped, recording.untimed}),
          "a process or a count that cannot be");
  check_work(recording.work);
  std::ranges::for_each(recording.devices, check_device);
  check_ranges(recording);
  return recording;
}

}  // namespace apo
