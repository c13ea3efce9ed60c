// kernels/oracle/perturbed.h - a number type whose operations are off by as much as a legal implementation's may be.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/random.h"

namespace apo::oracle {

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

// The random bits of this thread; seeded for each unit and sample, so that a result depends on neither the number of
// threads nor their timing. Xorshift (Marsaglia 2003).
inline thread_local std::uint64_t random_state = 1;
inline double centred_random() {  // uniform in [-1/2, 1/2)
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return static_cast<double>(static_cast<std::int64_t>(random_state) >> 11) * 0x1p-53;
}
// The same for the same bits within a sample: equal computations err alike, as those of hardware do.
inline thread_local std::uint64_t sample_seed = 1;
inline double centred(double value, int rotation = 0) {
  const std::uint64_t bits = std::rotr(mix64(sample_seed ^ std::bit_cast<std::uint64_t>(value)), rotation);
  return std::bit_cast<double>(bits >> 12 | 0x3ff0000000000000ull) - 1.5;
}

// Ulps of a correctly rounded operation, and of a special function or a division: CUDA's and the vector libraries' stay
// within 4 (CUDA C++ Programming Guide, "Mathematical Functions").
// The one operation that is perturbed, by its name; "": all are. Set before the threads start.
inline std::string_view perturbed_alone;
inline bool is_perturbed(const char* operation) {
  return perturbed_alone.empty() || perturbed_alone == operation;
}

inline constexpr double kRounded = 1;
inline constexpr double kSpecial = 8;  // from -4 to 4

// Monte-Carlo arithmetic with random rounding (Parker 1997; Denis, de Oliveira Castro & Petit 2015, arXiv 1509.01347):
// every result x that the format does not hold becomes x + ulps * 2^(e_x - kPrecision) * u with u uniform in [-1/2,
// 1/2) and e_x the exponent of x. Below the normal numbers of binary32 the whole value may be lost, as hardware that
// flushes them does.
template <int kPrecision, class Store>
struct Perturbed {
  Store value = 0;

  Perturbed() = default;
  template <Arithmetic T>
  Perturbed(T x) : value(static_cast<Store>(x)) {}
  template <Arithmetic T>
  explicit operator T() const {
    return static_cast<T>(value);
  }

  static Perturbed of(Store exact, double ulps, const char* operation) {
    return of(exact, ulps, operation, by_value(exact));
  }
  template <class Drawn>
  static Perturbed of(Store exact, double ulps, const char* operation, Drawn drawn) {
    Perturbed result;
    result.value = exact;
    const Store magnitude = std::abs(exact);
    if (magnitude > 0 && magnitude <= kLargest && is_perturbed(operation)) {
      result.value += static_cast<Store>(drawn()) * (static_cast<Store>(ulps) * spacing(exact));
      if (magnitude < kSmallestNormal && (result.value < 0) != (exact < 0)) {  // no rounding changes the sign
        result.value = 0;
      }
    }
    return result;
  }
  // Of a correctly rounded operation: exact where the format holds the result, as in x * 1.
  static Perturbed rounded(Store exact, const char* operation) { return rounded(exact, operation, by_value(exact)); }
  template <class Drawn>
  static Perturbed rounded(Store exact, const char* operation, Drawn drawn) {
    using Format = std::conditional_t<kPrecision <= 24, float, double>;
    const bool holds = static_cast<Store>(static_cast<Format>(exact)) == exact && std::abs(exact) >= kSmallestNormal;
    return of(exact, holds ? 0 : kRounded, operation, drawn);
  }
  // Of a sum whose terms cancel: exact in every format, but not what is left when the terms come in another order, are
  // fused with what made them, or one of them is a running mean where the reference has that of all. So it is off by up
  // to 4 ulps of the larger term, as a special function is; else the bound would be zero where this order happens to
  // cancel exactly, and smaller than the error of Welford's variance.
  static Perturbed summed(Store a, Store b) {
    if (std::abs(a) < std::abs(b)) {
      std::swap(a, b);
    }
    // What a running sum is off by when a term is added: the bits of the term below the grid of the sum, so that equal
    // terms are rounded one way as long as its exponent stays.
    const auto drawn = [&] {
      const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(static_cast<double>(a + b)) >> 52 & 63);
      return centred(static_cast<double>(b), exponent);
    };
    if (!(std::abs(a + b) < std::abs(a) / 2) || !is_perturbed(kAddition)) {
      return rounded(a + b, kAddition, drawn);
    }
    return a + b + static_cast<Store>(drawn()) * (static_cast<Store>(kSpecial) * spacing(a));
  }
  // An input: exact, but for what hardware flushes when it loads it.
  static Perturbed given(double x) {
    return std::fabs(x) < kSmallestNormal ? of(static_cast<Store>(x), kRounded, "input") : x;
  }
  // Rounded to a format of `bits` significant bits, whose numbers are nowhere closer than `smallest`.
  Perturbed rounded_to(int bits, double smallest) const {
    if (!is_perturbed("rounded")) {
      return *this;
    }
    Perturbed result;
    const Store step = spacing(value) * static_cast<Store>(std::ldexp(1.0, kPrecision - bits));
    result.value =
        value + static_cast<Store>(centred(static_cast<double>(value))) * std::max(step, static_cast<Store>(smallest));
    return result;
  }
  // With a relative error of at most 2^-bits.
  Perturbed within(int bits) const {
    if (!is_perturbed("approximate")) {
      return *this;
    }
    Perturbed result;
    result.value = value * (1 + static_cast<Store>(std::ldexp(2 * centred_random(), -bits)));
    return result;
  }

  friend Perturbed operator+(Perturbed a, Perturbed b) { return summed(a.value, b.value); }
  friend Perturbed operator-(Perturbed a, Perturbed b) { return summed(a.value, -b.value); }
  friend Perturbed operator*(Perturbed a, Perturbed b) { return rounded(a.value * b.value, "multiplication"); }
  friend Perturbed operator/(Perturbed a, Perturbed b) { return of(a.value / b.value, kSpecial, "division"); }
  friend Perturbed operator-(Perturbed a) {
    a.value = -a.value;
    return a;
  }
  friend Perturbed operator+(Perturbed a) { return a; }
  Perturbed& operator+=(Perturbed b) { return *this = *this + b; }
  Perturbed& operator-=(Perturbed b) { return *this = *this - b; }
  Perturbed& operator*=(Perturbed b) { return *this = *this * b; }
  Perturbed& operator/=(Perturbed b) { return *this = *this / b; }
  friend auto operator<=>(Perturbed a, Perturbed b) { return a.value <=> b.value; }
  friend bool operator==(Perturbed a, Perturbed b) { return a.value == b.value; }

 private:
  static auto by_value(Store exact) {
    return [exact] { return centred(static_cast<double>(exact)); };
  }
  static constexpr const char* kAddition = "addition";
  static constexpr double kSmallestNormal = kPrecision <= 24 ? 0x1p-126 : 0x1p-1022;
  static constexpr double kLargest = std::numeric_limits<double>::max();

  static Store spacing(Store x) {
    const double magnitude = std::fabs(static_cast<double>(x));
    if (magnitude < kSmallestNormal) {
      return static_cast<Store>(kSmallestNormal);
    }
    // The power of two below x is x without its mantissa.
    const auto power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & 0x7ff0000000000000ull);
    return static_cast<Store>(power) * static_cast<Store>(std::bit_cast<double>((1023ull + 1 - kPrecision) << 52));
  }
};

template <class T>
inline constexpr bool kIsPerturbed = false;
template <int kPrecision, class Store>
inline constexpr bool kIsPerturbed<Perturbed<kPrecision, Store>> = true;

}  // namespace apo::oracle
