// kernels/oracle/mutant.h - number types that compute wrongly: planted mistakes that a family's tolerance has to
// refuse.
#pragma once

#include "kernels/oracle/number.h"

namespace apo::oracle {

enum class Mistake : std::uint8_t { bf16_sums, dropped_term, wrong_sign };

// How many additions of this thread's unit come before the one that goes wrong, and how many there have been.
inline thread_local std::int64_t wrong_addition = 0;
inline thread_local std::int64_t additions = 0;

// binary32 but for one mistake. `terms` tells a term from a sum: the sum of many is the larger of the two.
template <Mistake kMistake>
struct Mistaken {
  float value = 0;
  float terms = 1;

  Mistaken() = default;
  template <Arithmetic T>
  Mistaken(T x) : value(static_cast<float>(x)) {}
  template <Arithmetic T>
  explicit operator T() const {
    return static_cast<T>(value);
  }
  static Mistaken made(float value, float terms = 1) {
    Mistaken result(value);
    result.terms = terms;
    return result;
  }
  static Mistaken added(Mistaken a, Mistaken b, float sign) {
    const float sum = a.value + sign * b.value;
    const float terms = a.terms + b.terms;
    if constexpr (kMistake == Mistake::bf16_sums) {
      return made(static_cast<float>(round_to(DType::bf16, static_cast<double>(sum))), terms);
    } else {
      if (additions++ != wrong_addition) {
        return made(sum, terms);
      }
      const bool left_is_sum = a.terms >= b.terms;
      if constexpr (kMistake == Mistake::dropped_term) {
        return left_is_sum ? a : made(sign * b.value, b.terms);
      } else {
        return made(left_is_sum ? a.value - sign * b.value : -a.value + sign * b.value, terms);
      }
    }
  }

  friend Mistaken operator+(Mistaken a, Mistaken b) { return added(a, b, 1); }
  friend Mistaken operator-(Mistaken a, Mistaken b) { return added(a, b, -1); }
  friend Mistaken operator*(Mistaken a, Mistaken b) { return made(a.value * b.value); }
  friend Mistaken operator/(Mistaken a, Mistaken b) { return made(a.value / b.value); }
  friend Mistaken operator-(Mistaken a) { return made(-a.value, a.terms); }
  friend Mistaken operator+(Mistaken a) { return a; }
  Mistaken& operator+=(Mistaken b) { return *this = *this + b; }
  Mistaken& operator-=(Mistaken b) { return *this = *this - b; }
  Mistaken& operator*=(Mistaken b) { return *this = *this * b; }
  Mistaken& operator/=(Mistaken b) { return *this = *this / b; }
  friend auto operator<=>(Mistaken a, Mistaken b) { return a.value <=> b.value; }
  friend bool operator==(Mistaken a, Mistaken b) { return a.value == b.value; }
};

}  // namespace apo::oracle
