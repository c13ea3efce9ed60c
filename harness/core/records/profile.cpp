// harness/core/records/profile.cpp - a metric by its name; stall samples summed by state and by line.
#include "harness/core/records/profile.h"

#include <algorithm>
#include <limits>
#include <map>

#include "harness/core/words.h"

namespace apo {
namespace {

constexpr std::string_view kLimitedBy = "limited by ";

}  // namespace

std::string_view to_string(BlockLimiter limiter) {
  return word_at("threads, registers, shared memory, blocks, grid", static_cast<std::size_t>(limiter));
}

Metric blocks_per_sm_metric(std::int64_t blocks, BlockLimiter limiter) {
  return {.name = kBlocksPerSm,
          .value = static_cast<double>(blocks),
          .unit = std::string(kLimitedBy) + std::string(to_string(limiter)),
          .lower = {},
          .upper = {},
          .samples = 1};
}

std::optional<BlockLimiter> Profile::block_limiter() const {
  const auto found = std::ranges::find(metrics, kBlocksPerSm, &Metric::name);
  return found == metrics.end() || !found->unit.starts_with(kLimitedBy)
             ? std::nullopt
             : value_named<BlockLimiter>(std::string_view(found->unit).substr(kLimitedBy.size()));
}

double Profile::metric(const std::string& name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& one) { return one.name == name; });
  return found == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

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

namespace {

using SamplesByName = std::map<std::string, std::int64_t>;

struct SamplesOfLine {
  std::int64_t all = 0;
  SamplesByName by_stall;
  SamplesByName by_inlined;
};

const SamplesByName::value_type& largest(const SamplesByName& sums) {
  return *std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
}

}  // namespace

std::vector<HotLine> hot_lines(const Profile& profile, std::size_t most) {
  std::map<std::pair<std::string, int>, SamplesOfLine> lines;
  std::int64_t all = 0;
  for (const StallSample& one : profile.stalls) {
    all += one.samples;
    if (one.line > 0) {
      SamplesOfLine& of_line = lines[{one.file, one.line}];
      of_line.all += one.samples;
      of_line.by_stall[one.stall] += one.samples;
      of_line.by_inlined[one.inlined] += one.samples;
    }
  }
  std::vector<HotLine> hot;
  for (const auto& [place, samples] : lines) {
    const auto& [stall, of_stall] = largest(samples.by_stall);
    HotLine line{.file = place.first,
                 .line = place.second,
                 .samples = samples.all,
                 .share = static_cast<double>(samples.all) / static_cast<double>(all),
                 .stall = stall,
                 .stall_share = static_cast<double>(of_stall) / static_cast<double>(samples.all),
                 .inlined = largest(samples.by_inlined).first};
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
