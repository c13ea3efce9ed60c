// harness/families/draw_inputs.cpp - one stream of random numbers for each block of elements.
#include "harness/families/draw_inputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>

#include "harness/core/words.h"
#include "kernels/dtype.h"
#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr double kSmall = 0x1p-10;

enum class Regime : std::uint8_t {
  typical,
  wide,
  near_zero,
  saturating,
  constant_rows,
  zero_rows,
  extreme,
  equal,
  alternating,
  denormal
};
APO_WORDS(Regime, regime_from, typical, wide, near_zero, saturating, constant_rows, zero_rows, extreme, equal,
          alternating, denormal)

struct Draw {
  const Distribution& distribution;
  std::int64_t largest = 0;
  Regime regime = Regime::typical;
  double denormal = 0;  // the factor

  // The range that the distribution declares.
  double low() const {
    switch (distribution.kind) {
      case DistributionKind::normal:
        return -INFINITY;
      case DistributionKind::uniform:
        return distribution.first;
      default:
        return 0;
    }
  }
  double high() const {
    switch (distribution.kind) {
      case DistributionKind::normal:
      case DistributionKind::positive:
        return INFINITY;
      case DistributionKind::uniform:
        return distribution.second;
      case DistributionKind::index:
        return static_cast<double>(largest);
      default:
        return 1;
    }
  }
  bool is_bounded() const { return std::isfinite(high()); }
  bool has_zero() const { return distribution.kind != DistributionKind::positive && low() <= 0 && high() >= 0; }

  // Scaled as the regime says.
  double unbounded(Random& random, double value) const {
    switch (regime) {
      case Regime::wide:
        return value * std::exp2(random.uniform(-6, 6));
      case Regime::near_zero:
        return value * kSmall;
      case Regime::saturating:
        return value * 16;
      case Regime::extreme:
        return std::copysign(random.uniform(45, 200), value);
      default:
        return value;
    }
  }

  double bounded(Random& random, double value) const {
    const double at_end = regime == Regime::wide                                      ? 0.5
                          : regime == Regime::saturating || regime == Regime::extreme ? 1
                                                                                      : 0;
    if (at_end > 0 && random.uniform() < at_end) {
      return random.coin() ? low() : high();
    }
    const double nearest_to_zero = std::clamp(0.0, low(), high());
    return regime == Regime::near_zero ? nearest_to_zero + (value - nearest_to_zero) * kSmall : value;
  }

  double one(Random& random) const {
    switch (distribution.kind) {
      case DistributionKind::normal:
        return unbounded(random, distribution.first + distribution.second * random.normal());
      case DistributionKind::positive:
        return unbounded(random, std::fabs(random.normal()) + kSmall);
      case DistributionKind::mask:
        return random.uniform() < (regime == Regime::near_zero ? 0.05 : 0.5) ? 1 : 0;
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

  // Applies the regime to an element by its place in the row, and to rows that `zero_row` draws.
  double placed(double value, std::size_t in_row, bool zero_row) const {
    if (regime == Regime::zero_rows && zero_row && has_zero()) {
      return 0;
    }
    if (regime == Regime::alternating && is_bounded()) {
      return in_row % 2 == 0 ? low() : high();
    }
    if (regime == Regime::alternating && distribution.kind == DistributionKind::normal) {
      return in_row % 2 == 0 ? std::fabs(value) : -std::fabs(value);
    }
    const bool of_reals = distribution.kind != DistributionKind::index && distribution.kind != DistributionKind::mask;
    return regime == Regime::denormal && of_reals && has_zero() ? std::clamp(value * denormal, low(), high()) : value;
  }
};

// A sixteenth of the smallest normal number: three bits of a bf16 are left.
double denormal_factor(DType dtype) {
  const DTypeFacts facts = facts_of(dtype);
  return facts.smallest * std::exp2(facts.precision - 1) / 16;
}

void place_row(const Draw& draw, bool zero_row, std::span<double> values, double first) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = draw.regime == Regime::equal           ? first
                : draw.regime == Regime::constant_rows ? values.front()
                                                       : draw.placed(values[i], i, zero_row);
  }
}

void place(const Draw& draw, std::size_t row, std::uint64_t seed, std::vector<double>& values) {
  for (std::size_t begin = 0; begin < values.size(); begin += row) {
    const bool zero_row = (derive_seed(seed, "zero row", begin) & 1) != 0;
    place_row(draw, zero_row, std::span(values).subspan(begin, row), values.front());
  }
}

}  // namespace

const std::vector<std::string>& known_regimes() {
  static const std::vector<std::string> kNames = words_of<Regime>();
  return kNames;
}

std::vector<double> draw_input(const Distribution& distribution, DType dtype, const std::vector<std::int64_t>& extents,
                               std::int64_t largest, std::uint64_t seed, std::string_view regime, int threads) {
  const std::int64_t count = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  const Draw draw{.distribution = distribution,
                  .largest = largest,
                  .regime = regime_from(regime).value(),
                  .denormal = denormal_factor(dtype)};
  std::vector<double> values(static_cast<std::size_t>(count));
  std::vector<std::int64_t> blocks(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  std::iota(blocks.begin(), blocks.end(), std::int64_t{0});
  for_each_unit(blocks, threads, [&](std::int64_t block) {
    Random random(derive_seed(seed, "block", static_cast<std::uint64_t>(block)));
    for (std::int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      values[static_cast<std::size_t>(i)] = draw.one(random);
    }
  });
  if (draw.regime != Regime::typical && !values.empty()) {
    place(draw, extents.empty() ? 1 : static_cast<std::size_t>(extents.back()), seed, values);
  }
  return values;
}

}  // namespace apo
