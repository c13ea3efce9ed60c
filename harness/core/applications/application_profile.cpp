// harness/core/applications/application_profile.cpp - names of directions, and busy and idle times from intervals.
#include "harness/core/applications/application_profile.h"

#include <algorithm>
#include <limits>

namespace apo {

const char* copy_name(std::int64_t direction) {
  static constexpr std::array<const char*, kDirections> kNames = {
      "memcpy",      "memcpy HtoD", "memcpy DtoH", "memcpy HtoA", "memcpy AtoH", "memcpy AtoA",
      "memcpy AtoD", "memcpy DtoA", "memcpy DtoD", "memcpy HtoH", "memcpy PtoP"};
  return direction >= 0 && direction < kDirections ? kNames[static_cast<std::size_t>(direction)]
                                                   : "memcpy of another kind";
}

double ApplicationSummary::idle_share() const {
  return span_ns > 0 ? 1 - static_cast<double>(busy_ns) / static_cast<double>(span_ns)
                     : std::numeric_limits<double>::quiet_NaN();
}

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
