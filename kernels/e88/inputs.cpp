// kernels/e88/inputs.cpp - the input regimes of the E88 families.
//
//   typical          k, q of unit norm (NORM=1: raw, of norm about sqrt(N)), v ~ (0.3..1) N(0,1),
//                    decay = sigmoid(N(0,1)), g ~ N(0,1), s0 ~ 0.3 N(0,1), d_output ~ N(0,1), d_s_final ~ N(0,1)
//   long_memory      decay near 0.999, which bf16 stores as 0.992, 0.996 or 1: old states and old errors survive
//   near_zero_gates  g ~ N(0, 1e-3): silu vanishes, so a post-gate cache cannot stand for y, nor be divided by silu
//   wide_range       magnitudes log-uniform over decades, step by step; decay uniform in (0,1)
//   saturating       v uniform within 2.5 sqrt(N): a quarter of the state has |S| > 0.9, a fiftieth |S| > 0.999
//   extreme          typical rows beside rows of zeros, of one value, of +-200 in turn (v, g: e^x overflows fp32),
//                    and decays of exactly 0 and 1
// k and q are never longer than 1 after normalisation, which keeps the step's Jacobian from expanding: with longer ones
// the gradient is chaotic, and a comparison with any reference says nothing.
#include "kernels/e88/inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "kernels/parallel.h"
#include "kernels/random.h"

namespace apo::e88 {
namespace {

enum class Regime : std::uint8_t { typical, long_memory, near_zero_gates, wide_range, saturating, extreme };

constexpr std::array<std::string_view, 6> kRegimes = {"typical",    "long_memory", "near_zero_gates",
                                                      "wide_range", "saturating",  "extreme"};

Regime regime_from(std::string_view name) {
  for (std::size_t i = 0; i < kRegimes.size(); ++i) {
    if (kRegimes[i] == name) {
      return static_cast<Regime>(i);
    }
  }
  throw std::invalid_argument("the E88 families have no input regime '" + std::string(name) + "'");
}

double log_uniform(Random& random, double low_exponent, double high_exponent) {
  return std::pow(10.0, random.uniform(low_exponent, high_exponent));
}

void normalise(double length, double* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += values[i] * values[i];
  }
  const double factor = length / std::sqrt(sum);
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] *= factor;
  }
}

void draw_key(const Shape& shape, Regime regime, bool query, Random& random, double* row) {
  fill_normal(random, 1.0, row, shape.N);
  if (shape.norm) {
    if (regime == Regime::wide_range) {
      normalise(log_uniform(random, -2, 2), row, shape.N);
    }
    return;
  }
  const double longest = query ? 1 : 0;
  normalise(regime == Regime::wide_range ? log_uniform(random, -2, longest) : 1.0, row, shape.N);
}

double draw_decay(Regime regime, Random& random) {
  switch (regime) {
    case Regime::long_memory:
      return 1 / (1 + std::exp(-6 - 0.5 * random.normal()));
    case Regime::wide_range:
      return random.uniform();
    case Regime::extreme:
      return random.below(4) != 0 ? random.uniform() : random.coin() ? 1 : 0;
    default:
      return 1 / (1 + std::exp(-random.normal()));
  }
}

// The factor of a row of v, g, d_output or of a whole state tensor.
double row_scale(std::string_view name, Regime regime, Random& random) {
  const bool wide = regime == Regime::wide_range;
  if (name == "v") {
    return wide ? log_uniform(random, -2, 0.5) : random.uniform(0.3, 1.0);
  }
  if (name == "g") {
    return wide ? log_uniform(random, -2, 1) : regime == Regime::near_zero_gates ? 1e-3 : 1.0;
  }
  if (name == "s0") {
    return wide ? log_uniform(random, -2, 0) : 0.3;
  }
  return wide ? log_uniform(random, -2, 2) : 1.0;  // d_output, d_s_final
}

// In place of a typical row, half of the time.
bool draw_extreme_row(std::string_view name, Random& random, double* row, std::int64_t width) {
  const std::uint64_t kind = random.below(8);
  const double value = name == "v" || name == "g" ? 200 : 1;
  if (kind > 3 || ((name == "k" || name == "q") && kind > 0)) {
    return false;  // keys of one value have a length that the norm has to take off
  }
  for (std::int64_t j = 0; j < width; ++j) {
    row[j] = kind == 0 ? 0 : kind == 1 ? 0.5 : (j % 2 == 0 ? value : -value);
  }
  return true;
}

void draw_unit(const Shape& shape, std::string_view name, std::int64_t unit, std::uint64_t seed, Regime regime,
               std::vector<double>& values) {
  const Layout layout = layout_of(shape, name, unit);
  Random random(derive_seed(seed, name, static_cast<std::uint64_t>(unit)));
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    double* to = values.data() + layout.unit_offset + row * layout.row_stride;
    if (regime == Regime::extreme && name != "decay" && draw_extreme_row(name, random, to, layout.width)) {
      continue;
    }
    if (name == "k" || name == "q") {
      draw_key(shape, regime, name == "q", random, to);
    } else if (name == "decay") {
      *to = draw_decay(regime, random);
    } else if (name == "v" && regime == Regime::saturating) {
      // Bounded: beyond |P| = 3 a tanh of relative error 2^-11 leaves nothing of 1 - S^2 to compare.
      const double bound = 2.5 * std::sqrt(static_cast<double>(shape.N));
      std::generate_n(to, layout.width, [&] { return random.uniform(-bound, bound); });
    } else {
      fill_normal(random, row_scale(name, regime, random), to, layout.width);
    }
  }
}

}  // namespace

std::vector<std::string> regime_names() {
  return {kRegimes.begin(), kRegimes.end()};
}

void fill_normal(Random& random, double scale, double* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 2) {
    const double radius = scale * std::sqrt(-2.0 * std::log(random.uniform()));
    const double angle = 2.0 * std::numbers::pi * random.uniform();
    values[i] = radius * std::cos(angle);
    if (i + 1 < count) {
      values[i + 1] = radius * std::sin(angle);
    }
  }
}

TensorMap draw(const Shape& shape, const std::vector<std::string_view>& names, std::uint64_t seed,
               std::string_view regime, int threads) {
  const Regime which = regime_from(regime);
  TensorMap tensors = allocate(shape, names, threads);
  for_each_unit(units_or_all(shape, {}), threads, [&](std::int64_t unit) {
    for (const std::string_view name : names) {
      draw_unit(shape, name, unit, seed, which, tensors.find(name)->second);
    }
  });
  return tensors;
}

}  // namespace apo::e88
