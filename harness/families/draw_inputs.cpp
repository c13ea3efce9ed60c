// harness/families/draw_inputs.cpp - one stream of random numbers for each block of elements.
#include "harness/families/draw_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "harness/core/words.h"
#include "kernels/dtype.h"
#include "kernels/encode.h"
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

// A sixteenth of the smallest normal number: three bits of a bf16 are left.
double denormal_factor(DType dtype) {
  const DTypeFacts facts = facts_of(dtype);
  return facts.smallest * std::exp2(facts.precision - 1) / 16;
}

constexpr std::size_t kDifferent = 3;  // elements of a row of "repeated"

// The values that a distribution draws, before a regime places them: a stream of numbers for each block. Of a tensor
// of more than kDrawn elements the blocks behind these repeat a stretch of them from anywhere.
class Values {
 public:
  Values(const Draw& draw, std::int64_t count, std::uint64_t seed, int threads)
      : draw_(draw), count_(count), seed_(seed) {
    if (count > kDrawn) {
      std::vector<double> drawn(static_cast<std::size_t>(kDrawn));
      for_each_index(static_cast<std::size_t>(kDrawn / kBlock), threads,
                     [&](std::size_t block) { fill(static_cast<std::int64_t>(block), drawn.data() + block * kBlock); });
      drawn_ = std::move(drawn);
    }
  }
  // Returns how many there are.
  std::int64_t fill(std::int64_t block, double* values) const {
    const std::int64_t begin = block * kBlock;
    const std::int64_t elements = std::min(kBlock, count_ - begin);
    Random random(derive_seed(seed_, "block", static_cast<std::uint64_t>(block)));
    if (!drawn_.empty()) {
      const std::int64_t from =
          begin < kDrawn ? begin : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(kDrawn - kBlock)));
      std::copy_n(drawn_.begin() + from, elements, values);
      return elements;
    }
    std::generate_n(values, elements, [&] { return draw_.one(random); });
    return elements;
  }
  double at(std::int64_t element) const {
    std::array<double, kBlock> values;
    fill(element / kBlock, values.data());
    return values[static_cast<std::size_t>(element % kBlock)];
  }

 private:
  static constexpr std::int64_t kDrawn = std::int64_t{1} << 24;

  const Draw& draw_;
  std::int64_t count_;
  std::uint64_t seed_;
  std::vector<double> drawn_;
};

// Places elements in their order, from any of them on: what a regime says of a row, it says by the row's first values.
class Places {
 public:
  Places(const Draw& draw, const Values& values, std::int64_t row, std::uint64_t seed, std::int64_t begin)
      : draw_(draw), row_(row), seed_(seed), next_(begin), first_(values.at(0)) {
    if (begin % row != 0) {
      const std::int64_t row_begin = begin - begin % row;
      for (std::size_t i = 0; i < kDifferent && static_cast<std::int64_t>(i) < begin % row; ++i) {
        firsts_[i] = values.at(row_begin + static_cast<std::int64_t>(i));
      }
      begin_row();
      const auto in_row = static_cast<std::uint64_t>(begin % row);
      random_.skip(draw.regime == Regime::special ? 2 * in_row : in_row - std::min<std::uint64_t>(in_row, kDifferent));
    }
  }

  double place(double value) {
    const auto in_row = static_cast<std::size_t>(next_ % row_);
    if (in_row == 0) {
      begin_row();
    }
    if (in_row < kDifferent) {
      firsts_[in_row] = value;
    }
    const std::int64_t row = next_++ / row_;
    switch (draw_.regime) {
      case Regime::equal:
        return first_;
      case Regime::constant_rows:
        return firsts_[0];
      case Regime::sorted:
        return value;  // as soon as all are there
      case Regime::repeated:
        return in_row < kDifferent ? value : firsts_[random_.below(kDifferent)];
      case Regime::close:
        return firsts_[0] + (value - firsts_[0]) * kClose;
      case Regime::special:
        return special_value(draw_, static_cast<std::size_t>(row), in_row, static_cast<std::size_t>(row_), value,
                             random_);
      default:
        return draw_.placed(value, in_row, is_zero_row_);
    }
  }

 private:
  static constexpr double kClose = 0x1p-6;  // as for an offset of 64 deviations

  void begin_row() {
    const std::int64_t row = next_ / row_;
    random_ = Random(derive_seed(seed_, "row", static_cast<std::uint64_t>(row)));
    is_zero_row_ = (derive_seed(seed_, "zero row", static_cast<std::uint64_t>(row * row_)) & 1) != 0;
  }

  const Draw& draw_;
  std::int64_t row_;
  std::uint64_t seed_;
  std::int64_t next_;
  double first_;
  std::array<double, kDifferent> firsts_ = {};
  Random random_ = Random(0);
  bool is_zero_row_ = false;
};

// A number's bits as a key that is in order as an unsigned number, and back: the sign's bit is turned, and of a
// negative number that is a sign and a magnitude all others, too.
template <DType kDType, class Bits, bool kBack = false>
Bits turned(Bits bits) {
  constexpr Bits kTop = Bits{1} << (8 * sizeof(Bits) - 1);
  if (kDType == DType::u8 || kDType == DType::boolean) {
    return bits;
  }
  const bool is_negative = ((bits & kTop) != 0) != kBack;
  return is_float(kDType) && is_negative ? static_cast<Bits>(~bits) : static_cast<Bits>(bits ^ kTop);
}

// By its bytes, from the last to the first: a long row is in order after some passes over it.
template <class Bits>
void sort_keys(std::vector<Bits>& keys) {
  constexpr std::size_t kShort = 256;
  if (keys.size() < kShort) {
    std::ranges::sort(keys);
    return;
  }
  std::vector<Bits> sorted(keys.size());
  for (std::size_t shift = 0; shift < 8 * sizeof(Bits); shift += 8) {
    std::array<std::size_t, 257> begin{};
    for (const Bits key : keys) {
      ++begin[(key >> shift & 255U) + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const Bits key : keys) {
      sorted[begin[key >> shift & 255U]++] = key;
    }
    keys.swap(sorted);
  }
}

// Up and down in turn.
template <DType kDType>
void sort_rows(std::vector<std::byte>& bytes, std::int64_t row, std::uint64_t seed, int threads) {
  constexpr auto kWidth = static_cast<std::size_t>(dtype_bytes(kDType));
  using Bits = UnsignedOf<kWidth>;
  const std::size_t of_row = static_cast<std::size_t>(row) * kWidth;
  for_each_index(bytes.size() / of_row, threads, [&](std::size_t i) {
    std::vector<Bits> bits(static_cast<std::size_t>(row));
    std::memcpy(bits.data(), bytes.data() + i * of_row, of_row);
    std::ranges::transform(bits, bits.begin(), turned<kDType, Bits>);
    sort_keys(bits);
    std::ranges::transform(bits, bits.begin(), turned<kDType, Bits, true>);
    if (((i + seed) & 1) != 0) {
      std::ranges::reverse(bits);
    }
    std::memcpy(bytes.data() + i * of_row, bits.data(), of_row);
  });
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

std::vector<std::byte> draw_input(const Distribution& distribution, DType dtype,
                                  const std::vector<std::int64_t>& extents, std::int64_t largest, std::uint64_t seed,
                                  std::string_view regime, int threads) {
  constexpr std::int64_t kBlocksOfTask = 64;
  const std::int64_t count = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  const std::int64_t row = extents.empty() ? 1 : extents.back();
  Draw draw{.distribution = distribution,
            .dtype = dtype,
            .largest = largest,
            .regime = regime_from(regime).value(),
            .denormal = denormal_factor(dtype)};
  draw.regime = draw.acts() ? draw.regime : Regime::typical;
  std::vector<std::byte> bytes = zero_bytes(static_cast<std::size_t>(count * dtype_bytes(dtype)), threads);
  if (count == 0) {
    return bytes;
  }
  const Values values(draw, count, seed, threads);
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  for_each_index(
      static_cast<std::size_t>((blocks + kBlocksOfTask - 1) / kBlocksOfTask), threads, [&](std::size_t task) {
        const std::int64_t first = static_cast<std::int64_t>(task) * kBlocksOfTask;
        std::optional<Places> places;
        if (draw.regime != Regime::typical) {
          places.emplace(draw, values, row, seed, first * kBlock);
        }
        std::array<double, kBlock> of_block;
        for (std::int64_t block = first; block < std::min(blocks, first + kBlocksOfTask); ++block) {
          const std::span<double> drawn(of_block.data(), static_cast<std::size_t>(values.fill(block, of_block.data())));
          if (places) {
            std::ranges::transform(drawn, drawn.begin(), [&](double value) { return places->place(value); });
          }
          encode(dtype, drawn, bytes.data() + block * kBlock * dtype_bytes(dtype));
        }
      });
  if (draw.regime == Regime::sorted) {
    with_dtype(dtype, [&]<DType kDType>() { sort_rows<kDType>(bytes, row, seed, threads); });
  }
  return bytes;
}

}  // namespace apo
