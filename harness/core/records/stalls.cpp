// harness/core/records/stalls.cpp - sums stall samples by state and by line.
#include "harness/core/records/stalls.h"

#include <algorithm>
#include <map>

namespace apo {

std::vector<std::pair<std::string, double>> top_stalls(const Profile& profile) {
  const std::string prefix = "stall_";
  std::vector<std::pair<std::string, double>> stalls;
  for (const Metric& metric : profile.metrics) {
    if (metric.name.starts_with(prefix) && metric.name != "stall_selected" && metric.value > 0) {
      stalls.emplace_back(metric.name.substr(prefix.size()), metric.value);
    }
  }
  std::stable_sort(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return stalls;
}

std::vector<HotLine> hot_lines(const Profile& profile, std::size_t most) {
  std::map<std::pair<std::string, int>, std::map<std::string, std::int64_t>> lines;
  std::int64_t all = 0;
  for (const StallSample& one : profile.stalls) {
    all += one.samples;
    if (one.line > 0) {
      lines[{one.file, one.line}][one.stall] += one.samples;
    }
  }
  std::vector<HotLine> hot;
  for (const auto& [place, stalls] : lines) {
    HotLine line{.file = place.first, .line = place.second};
    std::int64_t largest = 0;
    for (const auto& [stall, samples] : stalls) {
      line.samples += samples;
      line.stall = samples > largest ? stall : line.stall;
      largest = std::max(largest, samples);
    }
    line.share = static_cast<double>(line.samples) / static_cast<double>(all);
    line.stall_share = static_cast<double>(largest) / static_cast<double>(line.samples);
    for (const SourceLine& source : profile.lines) {
      line.text = source.file == line.file && source.line == line.line ? source.text : line.text;
    }
    hot.push_back(std::move(line));
  }
  std::stable_sort(hot.begin(), hot.end(), [](const HotLine& a, const HotLine& b) { return a.samples > b.samples; });
  hot.resize(std::min(hot.size(), most));
  return hot;
}

}  // namespace apo
