// harness/families/draw_inputs.cpp - one stream of random numbers for each block of elements.
#include "harness/families/draw_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

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
  denormal,
  offset,
  negative_offset,
  close,
  sorted,
  repeated,
  largest,
  special
};
APO_WORDS(Regime, regime_from, typical, wide, near_zero, saturating, constant_rows, zero_rows, extreme, equal,
          alternating, denormal, offset, negative_offset, close, sorted, repeated, largest, special)

// Formats so narrow that products of their largest numbers are far from the end of binary32.
bool is_narrow(DType dtype) {
  return dtype == DType::f16 || dtype == DType::e4m3 || dtype == DType::e5m2;
}

struct Draw {
  const Distribution& distribution;
  DType dtype = DType::f32;
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

  // How far a common offset is from 0, which the differences between elements stay.
  double offset() const {
    constexpr double kDeviations = 100;
    const bool normal = distribution.kind == DistributionKind::normal;
    return normal ? std::fabs(distribution.first) + kDeviations * distribution.second : kDeviations;
  }
  double mean() const { return distribution.kind == DistributionKind::normal ? distribution.first : 0; }

  // Whether the regime draws anything else than typical inputs of this distribution.
  bool acts() const {
    const DistributionKind kind = distribution.kind;
    const bool normal = kind == DistributionKind::normal;
    const bool positive = kind == DistributionKind::positive;
    const bool of_reals = kind != DistributionKind::index && kind != DistributionKind::mask;
    switch (regime) {
      case Regime::typical:
      case Regime::constant_rows:
      case Regime::equal:
      case Regime::sorted:
        return true;
      case Regime::wide:
      case Regime::saturating:
      case Regime::extreme:
        return of_reals;
      case Regime::near_zero:
        return kind != DistributionKind::index;
      case Regime::zero_rows:
        return has_zero();
      case Regime::alternating:
        return !positive;
      case Regime::denormal:
        return of_reals && has_zero();
      case Regime::offset:
        return (normal || positive) && is_float(dtype);
      case Regime::negative_offset:
        return normal && is_float(dtype);
      case Regime::close:
        return of_reals && is_float(dtype);
      case Regime::repeated:
        return kind != DistributionKind::mask;
      case Regime::largest:
        return (normal || positive) && is_narrow(dtype);
      case Regime::special:
        return distribution.special.any() && is_float(dtype);
    }
    return false;
  }

  // Scaled as the regime says.
  double unbounded(Random& random, double value) const {
    switch (regime) {
      case Regime::offset:
      case Regime::negative_offset:
        return value - mean() + (regime == Regime::offset ? offset() : -offset());
      case Regime::largest:
        return std::copysign(facts_of(dtype).largest * random.uniform(0.5, 1), value);
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
    return regime == Regime::denormal ? std::clamp(value * denormal, low(), high()) : value;
  }
};

// In turn a row has some of the special values, nothing else, one, and none.
double special_value(const Draw& draw, std::size_t row, std::size_t in_row, std::size_t cols, double value,
                     Random& random) {
  constexpr double kSome = 0.125;
  const SpecialValues& special = draw.distribution.special;
  std::vector<double> values;
  for (const auto& [is_there, each] : {std::pair(special.nan, std::numeric_limits<double>::quiet_NaN()),
                                       {special.plus_infinity, INFINITY},
                                       {special.minus_infinity, -INFINITY},
                                       {special.signed_zero, 0.0},
                                       {special.signed_zero, -0.0}}) {
    if (is_there) {
      values.push_back(each);
    }
  }
  const double drawn = values[random.below(values.size())];
  const bool is_some = random.uniform() < kSome;
  const bool is_one = in_row == row * 7 % cols;
  const std::array<bool, 4> takes = {is_some || is_one, true, is_one, false};
  return takes[row % takes.size()] ? drawn : value;
}

// The values of a row that is a whole: in order, few different ones, close together, or with special values.
void arrange_row(const Draw& draw, std::size_t row, std::uint64_t seed, std::span<double> values) {
  constexpr std::size_t kDifferent = 3;
  constexpr double kClose = 0x1p-6;  // as for an offset of 64 deviations
  Random random(derive_seed(seed, "row", row));
  const double first = values.front();
  switch (draw.regime) {
    case Regime::sorted:
      std::ranges::sort(values);
      if (((row + seed) & 1) != 0) {
        std::ranges::reverse(values);
      }
      return;
    case Regime::repeated:
      for (std::size_t i = kDifferent; i < values.size(); ++i) {
        values[i] = values[random.below(kDifferent)];
      }
      return;
    case Regime::close:
      std::ranges::transform(values, values.begin(), [&](double value) { return first + (value - first) * kClose; });
      return;
    default:
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = special_value(draw, row, i, values.size(), values[i], random);
      }
  }
}

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
  const bool arranges = draw.regime == Regime::sorted || draw.regime == Regime::repeated ||
                        draw.regime == Regime::close || draw.regime == Regime::special;
  for (std::size_t begin = 0; begin < values.size(); begin += row) {
    const std::span<double> of_row = std::span(values).subspan(begin, row);
    if (arranges) {
      arrange_row(draw, begin / row, seed, of_row);
    } else {
      const bool zero_row = (derive_seed(seed, "zero row", begin) & 1) != 0;
      place_row(draw, zero_row, of_row, values.front());
    }
  }
}

}  // namespace

const std::vector<std::string>& known_regimes() {
  static const std::vector<std::string> kNames = words_of<Regime>();
  return kNames;
}

bool changes(std::string_view regime, const Distribution& distribution, DType dtype) {
  return distribution.kind != DistributionKind::function &&
         Draw{.distribution = distribution, .dtype = dtype, .regime = regime_from(regime).value()}.acts();
}

std::vector<double> draw_input(const Distribution& distribution, DType dtype, const std::vector<std::int64_t>& extents,
                               std::int64_t largest, std::uint64_t seed, std::string_view regime, int threads) {
  const std::int64_t count = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  Draw draw{.distribution = distribution,
            .dtype = dtype,
            .largest = largest,
            .regime = regime_from(regime).value(),
            .denormal = denormal_factor(dtype)};
  draw.regime = draw.acts() ? draw.regime : Regime::typical;
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
