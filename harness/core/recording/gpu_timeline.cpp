// harness/core/recording/gpu_timeline.cpp - merges intervals, and sums up the older half when there are too many.
#include "harness/core/recording/gpu_timeline.h"

#include <algorithm>

namespace apo {

void GpuTimeline::add(std::int64_t start, std::int64_t end) {
  if (any_closed_ && start < closed_.last_ns) {
    ++closed_.late;
    start = closed_.last_ns;
    if (end <= start) {
      return;
    }
  }
  insert({start, end});
  if (open_.size() > most_open_) {
    const auto half = static_cast<std::ptrdiff_t>(open_.size() / 2);
    std::for_each(open_.begin(), open_.begin() + half, [this](const Interval& one) {
      closed_.first_ns = any_closed_ ? closed_.first_ns : one.start;
      closed_.last_ns = any_closed_ ? closed_.last_ns : one.start;
      any_closed_ = true;
      close(closed_, one);
    });
    open_.erase(open_.begin(), open_.begin() + half);
  }
}

// Nearly always at the end.
void GpuTimeline::insert(const Interval& interval) {
  auto first = std::lower_bound(open_.begin(), open_.end(), interval.start,
                                [](const Interval& one, std::int64_t start) { return one.end < start; });
  if (first == open_.end() || first->start > interval.end) {
    open_.insert(first, interval);
    return;
  }
  Interval merged = interval;
  auto last = first;
  for (; last != open_.end() && last->start <= interval.end; ++last) {
    merged = {std::min(merged.start, last->start), std::max(merged.end, last->end)};
  }
  *first = merged;
  open_.erase(first + 1, last);
}

void GpuTimeline::close(DeviceBusy& total, const Interval& interval) {
  if (const std::int64_t gap = interval.start - total.last_ns; gap > 0) {
    const auto bound = std::lower_bound(kGapLimits.begin(), kGapLimits.end(), gap);
    Gaps& gaps = total.gaps[static_cast<std::size_t>(bound - kGapLimits.begin())];
    ++gaps.count;
    gaps.ns += gap;
    total.longest_gap_ns = std::max(total.longest_gap_ns, gap);
  }
  total.busy_ns += interval.end - interval.start;
  total.last_ns = interval.end;
}

DeviceBusy GpuTimeline::busy() const {
  DeviceBusy total = closed_;
  if (!any_closed_ && !open_.empty()) {
    total.first_ns = open_.front().start;
    total.last_ns = open_.front().start;
  }
  for (const Interval& interval : open_) {
    close(total, interval);
  }
  return total;
}

}  // namespace apo
