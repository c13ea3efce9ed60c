// harness/core/records/profile.cpp - a metric by its name.
#include "harness/core/records/profile.h"

#include <algorithm>
#include <limits>

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

}  // namespace apo
