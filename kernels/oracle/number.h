// kernels/oracle/number.h - the words of a family file, and the number types over which its reference is instantiated.
//
// A reference is written once over a type Real. `double` gives the expected values, `float` an honest implementation,
// Perturbed the error of a legal one and Counted the work. docs/families.md describes the words for authors.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/dtype.h"
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

// Ulps of a correctly rounded operation, and of a special function or a division: CUDA's and the vector libraries' stay
// within 4 (CUDA C++ Programming Guide, "Mathematical Functions").
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

  static Perturbed of(Store exact, double ulps) {
    Perturbed result;
    result.value = exact;
    if (exact != 0 && std::isfinite(static_cast<double>(exact))) {
      result.value += static_cast<Store>(ulps * centred_random()) * spacing(exact);
    }
    return result;
  }
  // Of a correctly rounded operation: exact where the format holds the result, as in x * 1.
  static Perturbed rounded(Store exact) {
    using Format = std::conditional_t<kPrecision <= 24, float, double>;
    const bool holds = static_cast<Store>(static_cast<Format>(exact)) == exact && std::abs(exact) >= kSmallestNormal;
    return of(exact, holds ? 0 : kRounded);
  }
  // Rounded to a format of `bits` significant bits, whose numbers are nowhere closer than `smallest`.
  Perturbed rounded_to(int bits, double smallest) const {
    Perturbed result;
    const Store step = spacing(value) * static_cast<Store>(std::ldexp(1.0, kPrecision - bits));
    result.value = value + static_cast<Store>(centred_random()) * std::max(step, static_cast<Store>(smallest));
    return result;
  }
  // With a relative error of at most 2^-bits.
  Perturbed within(int bits) const {
    Perturbed result;
    result.value = value * (1 + static_cast<Store>(std::ldexp(2 * centred_random(), -bits)));
    return result;
  }

  friend Perturbed operator+(Perturbed a, Perturbed b) { return rounded(a.value + b.value); }
  friend Perturbed operator-(Perturbed a, Perturbed b) { return rounded(a.value - b.value); }
  friend Perturbed operator*(Perturbed a, Perturbed b) { return rounded(a.value * b.value); }
  friend Perturbed operator/(Perturbed a, Perturbed b) { return of(a.value / b.value, kSpecial); }
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
  static constexpr double kSmallestNormal = kPrecision <= 24 ? 0x1p-126 : 0x1p-1022;

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

// What all Counted values of this thread have cost.
struct Counts {
  double flops = 0;                       // additions and multiplications
  std::map<std::string, double> special;  // divisions and special functions by name
  double longest_special_chain = 0;       // of special functions that each need the one before
};
inline thread_local Counts counts;

// A value that remembers on how many special functions, one after the other, it depends. Additions and multiplications
// are left out of the chain: sums and linear recurrences can be computed in another order.
struct Counted {
  double value = 0;
  double chain = 0;

  Counted() = default;
  template <Arithmetic T>
  Counted(T x) : value(static_cast<double>(x)) {}
  template <Arithmetic T>
  explicit operator T() const {
    return static_cast<T>(value);
  }
  static Counted flop(double value, Counted a, Counted b) {
    ++counts.flops;
    return made(value, std::max(a.chain, b.chain));
  }
  static Counted special(const char* name, double value, double chain) {
    ++counts.special[name];
    return made(value, chain + 1);
  }
  static Counted made(double value, double chain) {
    Counted result(value);
    result.chain = chain;
    counts.longest_special_chain = std::max(counts.longest_special_chain, chain);
    return result;
  }

  friend Counted operator+(Counted a, Counted b) { return flop(a.value + b.value, a, b); }
  friend Counted operator-(Counted a, Counted b) { return flop(a.value - b.value, a, b); }
  friend Counted operator*(Counted a, Counted b) { return flop(a.value * b.value, a, b); }
  // Many divisions by one number are one division and multiplications: no chain needs them.
  friend Counted operator/(Counted a, Counted b) {
    ++counts.special["division"];
    return made(a.value / b.value, std::max(a.chain, b.chain));
  }
  friend Counted operator-(Counted a) { return made(-a.value, a.chain); }
  friend Counted operator+(Counted a) { return a; }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  Counted& operator-=(Counted b) { return *this = *this - b; }
  Counted& operator*=(Counted b) { return *this = *this * b; }
  Counted& operator/=(Counted b) { return *this = *this / b; }
  friend auto operator<=>(Counted a, Counted b) { return a.value <=> b.value; }
  friend bool operator==(Counted a, Counted b) { return a.value == b.value; }
};

template <class T>
inline constexpr bool kIsPerturbed = false;
template <int kPrecision, class Store>
inline constexpr bool kIsPerturbed<Perturbed<kPrecision, Store>> = true;
enum class Mistake : std::uint8_t;
template <Mistake kMistake>
struct Mistaken;  // mutant.h
template <class T>
inline constexpr bool kIsMistaken = false;
template <Mistake kMistake>
inline constexpr bool kIsMistaken<Mistaken<kMistake>> = true;
template <class T>
concept Number = kIsPerturbed<T> || kIsMistaken<T> || std::is_same_v<T, Counted>;

// A special function of one argument, of two, and one that is exact.
#define APO_SPECIAL(name)                                        \
  template <int P, class S>                                      \
  Perturbed<P, S> name(Perturbed<P, S> x) {                      \
    return Perturbed<P, S>::of(std::name(x.value), kSpecial);    \
  }                                                              \
  template <Mistake M>                                           \
  Mistaken<M> name(Mistaken<M> x) {                              \
    return Mistaken<M>::made(std::name(x.value));                \
  }                                                              \
  inline Counted name(Counted x) {                               \
    return Counted::special(#name, std::name(x.value), x.chain); \
  }
#define APO_SPECIAL2(name)                                                                   \
  template <int P, class S>                                                                  \
  Perturbed<P, S> name(Perturbed<P, S> x, std::type_identity_t<Perturbed<P, S>> y) {         \
    return Perturbed<P, S>::of(std::name(x.value, y.value), kSpecial);                       \
  }                                                                                          \
  template <Mistake M>                                                                       \
  Mistaken<M> name(Mistaken<M> x, std::type_identity_t<Mistaken<M>> y) {                     \
    return Mistaken<M>::made(std::name(x.value, y.value));                                   \
  }                                                                                          \
  inline Counted name(Counted x, Counted y) {                                                \
    return Counted::special(#name, std::name(x.value, y.value), std::max(x.chain, y.chain)); \
  }
#define APO_EXACT(name)           \
  template <Number T>             \
  T name(T x) {                   \
    x.value = std::name(x.value); \
    return x;                     \
  }
APO_SPECIAL(exp)
APO_SPECIAL(exp2)
APO_SPECIAL(expm1)
APO_SPECIAL(log)
APO_SPECIAL(log2)
APO_SPECIAL(log10)
APO_SPECIAL(log1p)
APO_SPECIAL(sqrt)
APO_SPECIAL(cbrt)
APO_SPECIAL(sin)
APO_SPECIAL(cos)
APO_SPECIAL(tan)
APO_SPECIAL(asin)
APO_SPECIAL(acos)
APO_SPECIAL(atan)
APO_SPECIAL(sinh)
APO_SPECIAL(cosh)
APO_SPECIAL(tanh)
APO_SPECIAL(erf)
APO_SPECIAL(erfc)
APO_SPECIAL(lgamma)
APO_SPECIAL2(pow)
APO_SPECIAL2(atan2)
APO_SPECIAL2(hypot)
APO_EXACT(fabs)
APO_EXACT(abs)
APO_EXACT(floor)
APO_EXACT(ceil)
APO_EXACT(round)
APO_EXACT(trunc)
#undef APO_SPECIAL
#undef APO_SPECIAL2
#undef APO_EXACT

template <int P, class S>
Perturbed<P, S> rsqrt(Perturbed<P, S> x) {
  return Perturbed<P, S>::of(1 / std::sqrt(x.value), kSpecial);
}
inline Counted rsqrt(Counted x) {
  return Counted::special("rsqrt", 1 / std::sqrt(x.value), x.chain);
}
template <Mistake M>
Mistaken<M> rsqrt(Mistaken<M> x) {
  return Mistaken<M>::made(1 / std::sqrt(x.value));
}
template <std::floating_point T>
T rsqrt(T x) {
  return 1 / std::sqrt(x);
}

template <int P, class S>
Perturbed<P, S> fma(Perturbed<P, S> a, std::type_identity_t<Perturbed<P, S>> b,
                    std::type_identity_t<Perturbed<P, S>> c) {
  return Perturbed<P, S>::rounded(a.value * b.value + c.value);
}
inline Counted fma(Counted a, Counted b, Counted c) {
  return a * b + c;
}
template <Mistake M>
Mistaken<M> fma(Mistaken<M> a, std::type_identity_t<Mistaken<M>> b, std::type_identity_t<Mistaken<M>> c) {
  return a * b + c;
}
// The larger and the smaller of two, of mixed types too, as in max(x, 0).
template <Number T>
T max(T a, std::type_identity_t<T> b) {
  T result = a.value < b.value ? b : a;
  if constexpr (std::is_same_v<T, Counted>) {
    result.chain = std::max(a.chain, b.chain);
  }
  return result;
}
template <Arithmetic A, Number T>
T max(A a, T b) {
  return max(T(a), b);
}
template <Arithmetic A, Arithmetic B>
std::common_type_t<A, B> max(A a, B b) {
  return std::max<std::common_type_t<A, B>>(a, b);
}
template <class A, class B>
auto min(A a, B b) {
  return -max(-a, -b);
}
template <Number T>
bool isnan(T x) {
  return std::isnan(x.value);
}
template <Number T>
bool isfinite(T x) {
  return std::isfinite(x.value);
}

// `x` as the dtype of `Format` holds it: what a contract says about an intermediate value.
template <class Format, class Real>
Real rounded(Real x) {
  if constexpr (kIsPerturbed<Real>) {
    constexpr DTypeFacts kFacts = facts_of(Format::dtype);
    const bool holds = round_to(Format::dtype, static_cast<double>(x)) == static_cast<double>(x);
    return holds ? x : x.rounded_to(kFacts.precision, kFacts.smallest);
  } else if constexpr (std::is_same_v<Real, float> || kIsMistaken<Real>) {
    return Real(static_cast<float>(round_to(Format::dtype, static_cast<double>(x))));
  } else {
    return x;
  }
}

// `x`, which a legal implementation may compute with a relative error of 2^-kBits: approximate<11>(tanh(x)).
template <int kBits, class Real>
Real approximate(Real x) {
  if constexpr (kIsPerturbed<Real>) {
    return x.within(kBits);
  } else {
    return x;
  }
}

// Two values that a legal implementation may take for the same one: what it can compute itself, which the reference
// takes, and what it is given of an earlier computation, in fewer bits, which the honest version takes.
template <class Real>
Real either(Real computed, Real given) {
  if constexpr (kIsPerturbed<Real>) {
    return centred_random() < 0 ? computed : given;
  } else if constexpr (std::is_same_v<Real, float> || kIsMistaken<Real>) {
    return given;
  } else {
    return computed;
  }
}

// The sum of term(0) to term(count - 1) in an order that the contract leaves open.
template <class Real, class Term>
Real sum(std::int64_t count, Term term) {
  if constexpr (kIsPerturbed<Real>) {
    std::vector<Real> terms;
    for (std::int64_t i = 0; i < count; ++i) {
      terms.push_back(term(i));
    }
    Real total = 0;
    for (std::int64_t left = count; left > 0; --left) {
      const auto drawn = static_cast<std::size_t>((centred_random() + 0.5) * static_cast<double>(left));
      std::swap(terms[drawn], terms[static_cast<std::size_t>(left - 1)]);
      total += terms[static_cast<std::size_t>(left - 1)];
    }
    return total;
  } else {
    Real total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      total += term(i);
    }
    return total;
  }
}

// a < b where both are rounded values, of which a near tie may be decided either way (argmax, top-k).
template <class Real>
bool decided(Real a, Real b) {
  if constexpr (kIsPerturbed<Real>) {
    constexpr int kTieBits = 19;  // 32 ulps of binary32
    return a.within(kTieBits).value < b.within(kTieBits).value;
  } else {
    return a < b;
  }
}

}  // namespace apo::oracle

template <apo::oracle::Number T>
struct std::numeric_limits<T> : std::numeric_limits<float> {};

// What a family file sees without naming a namespace.
using apo::Random;
using apo::oracle::approximate;
using apo::oracle::decided;
using apo::oracle::either;
using apo::oracle::max;
using apo::oracle::min;
using apo::oracle::rounded;
using apo::oracle::rsqrt;
using apo::oracle::sum;
using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cbrt, std::ceil, std::cos, std::cosh, std::erf,
    std::erfc, std::exp, std::exp2, std::expm1, std::fabs, std::floor, std::fma, std::hypot, std::isfinite, std::isnan,
    std::lgamma, std::log, std::log10, std::log1p, std::log2, std::pow, std::round, std::sin, std::sinh, std::sqrt,
    std::tan, std::tanh, std::trunc;
struct f64 {
  static constexpr apo::DType dtype = apo::DType::f64;
};
struct f32 {
  static constexpr apo::DType dtype = apo::DType::f32;
};
struct f16 {
  static constexpr apo::DType dtype = apo::DType::f16;
};
struct bf16 {
  static constexpr apo::DType dtype = apo::DType::bf16;
};
struct e4m3 {
  static constexpr apo::DType dtype = apo::DType::e4m3;
};
struct e5m2 {
  static constexpr apo::DType dtype = apo::DType::e5m2;
};
