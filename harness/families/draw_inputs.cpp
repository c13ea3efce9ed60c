// harness/families/draw_inputs.cpp - one stream of random numbers for each block of elements.
#include "harness/families/draw_inputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr double kSmall = 0x1p-10;

struct Draw {
  Draw(const Distribution& of, std::int64_t largest_index, std::string_view regime)
      : distribution(of),
        largest(largest_index),
        wide(regime == "wide"),
        near_zero(regime == "near_zero"),
        saturating(regime == "saturating") {}

  const Distribution& distribution;
  std::int64_t largest;
  bool wide, near_zero, saturating;  // the regime

  double low() const { return distribution.kind == DistributionKind::uniform ? distribution.first : 0; }
  double high() const {
    switch (distribution.kind) {
      case DistributionKind::uniform:
        return distribution.second;
      case DistributionKind::index:
        return static_cast<double>(largest);
      default:
        return 1;
    }
  }

  // Scaled as the regime says.
  double unbounded(Random& random, double value) const {
    if (wide) {
      return value * std::exp2(random.uniform(-6, 6));
    }
    return value * (near_zero ? kSmall : saturating ? 16 : 1);
  }

  double bounded(Random& random, double value) const {
    const double at_end = wide ? 0.5 : saturating ? 1 : 0;
    if (at_end > 0 && random.uniform() < at_end) {
      return random.coin() ? low() : high();
    }
    const double nearest_to_zero = std::clamp(0.0, low(), high());
    return near_zero ? nearest_to_zero + (value - nearest_to_zero) * kSmall : value;
  }

  double one(Random& random) const {
    switch (distribution.kind) {
      case DistributionKind::normal:
        return unbounded(random, distribution.first + distribution.second * random.normal());
      case DistributionKind::positive:
        return unbounded(random, std::fabs(random.normal()) + kSmall);
      case DistributionKind::mask:
        return random.uniform() < (near_zero ? 0.05 : 0.5) ? 1 : 0;
      case DistributionKind::index:
        return static_cast<double>(random.below(static_cast<std::uint64_t>(largest) + 1));
      case DistributionKind::uniform:
      case DistributionKind::probability:
        return bounded(random, random.uniform(low(), high()));
      case DistributionKind::function:
        break;
    }
    return 0;
  }
};

}  // namespace

std::vector<double> draw_input(const Distribution& distribution, const std::vector<std::int64_t>& extents,
                               std::int64_t largest, std::uint64_t seed, std::string_view regime, int threads) {
  const std::int64_t count = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  const Draw draw(distribution, largest, regime);
  std::vector<double> values(static_cast<std::size_t>(count));
  std::vector<std::int64_t> blocks(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  std::iota(blocks.begin(), blocks.end(), std::int64_t{0});
  for_each_unit(blocks, threads, [&](std::int64_t block) {
    Random random(derive_seed(seed, "block", static_cast<std::uint64_t>(block)));
    for (std::int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      values[static_cast<std::size_t>(i)] = draw.one(random);
    }
  });
  if (regime == "constant_rows" && !extents.empty()) {
    const auto row = static_cast<std::size_t>(extents.back());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = values[i - i % row];
    }
  }
  return values;
}

}  // namespace apo
