// kernels/oracle/number.h - the words of a family file, and the number types over which its reference is instantiated.
//
// A reference is written once over a type Real. `double` gives the expected values, `float` an honest implementation,
// Perturbed the error of a legal one and Counted the work. docs/families.md describes the words for authors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/oracle/counted.h"
#include "kernels/oracle/draws.h"
#include "kernels/oracle/perturbed.h"
#include "kernels/random.h"

namespace apo::oracle {

enum class Mistake : std::uint8_t;
template <Mistake kMistake>
struct Mistaken;  // mutant.h
template <class T>
inline constexpr bool kIsMistaken = false;
template <Mistake kMistake>
inline constexpr bool kIsMistaken<Mistaken<kMistake>> = true;
template <class T>  // else a probability is off by a rounding, and may be beyond 1
inline constexpr bool kIsExact = std::is_same_v<T, double> || std::is_same_v<T, long double>;
template <class T>
concept Number = kIsPerturbed<T> || kIsMistaken<T> || std::is_same_v<T, Counted>;

// A special function of one argument, of two, and one that is exact.
#define APO_SPECIAL(name)                                            \
  template <int P, class S>                                          \
  Perturbed<P, S> name(Perturbed<P, S> x) {                          \
    return Perturbed<P, S>::of(std::name(x.value), kSpecial, #name); \
  }                                                                  \
  template <Mistake M>                                               \
  Mistaken<M> name(Mistaken<M> x) {                                  \
    return Mistaken<M>::made(std::name(x.value));                    \
  }                                                                  \
  inline Counted name(Counted x) {                                   \
    return Counted::special(#name, std::name(x.value), x.chain);     \
  }
#define APO_SPECIAL2(name)                                                                   \
  template <int P, class S>                                                                  \
  Perturbed<P, S> name(Perturbed<P, S> x, std::type_identity_t<Perturbed<P, S>> y) {         \
    return Perturbed<P, S>::of(std::name(x.value, y.value), kSpecial, #name);                \
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
  return Perturbed<P, S>::of(1 / std::sqrt(x.value), kSpecial, "rsqrt");
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
  return Perturbed<P, S>::rounded(a.value * b.value + c.value, "fma");
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
template <class A, class B>
requires(Number<A> || Number<B>) auto fmax(A a, B b) {
  return max(a, b);
}
template <class A, class B>
requires(Number<A> || Number<B>) auto fmin(A a, B b) {
  return min(a, b);
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
    return is_perturbed("either") && centred_random() < 0 ? given : computed;
  } else if constexpr (std::is_same_v<Real, float> || kIsMistaken<Real>) {
    return given;
  } else {
    return computed;
  }
}

inline std::int64_t random_below(std::int64_t n) {
  return static_cast<std::int64_t>((centred_random() + 0.5) * static_cast<double>(n));
}
template <class Items>
void shuffle(Items& items) {
  for (std::int64_t left = std::ssize(items); left > 1; --left) {
    std::swap(items[static_cast<std::size_t>(random_below(left))], items[static_cast<std::size_t>(left - 1)]);
  }
}

// Sums in one of the orders that kernels use. In a quarter of the samples the terms as they stand: where they are
// sorted, no other order errs as much. In half of them in lanes, of which each takes every 2nd, 4th, ... 32nd term:
// where signs alternate, no other order does. Else at random.
template <class Real>
Real sum_of(std::vector<Real>& terms) {
  const auto count = std::ssize(terms);
  const std::int64_t order = random_below(4);
  if (order == 0) {
    shuffle(terms);
  }
  const std::int64_t lanes = order < 2 ? 1 : std::int64_t{2} << random_below(5);
  Real total = 0;
  for (std::int64_t lane = 0; lane < std::min(lanes, count); ++lane) {
    Real of_lane = 0;
    for (std::int64_t i = lane; i < count; i += lanes) {
      of_lane += terms[static_cast<std::size_t>(i)];
    }
    total += of_lane;
  }
  return total;
}

// The same orders for so many terms that they are not kept: at random the blocks, and the terms of each.
template <class Real, class Term>
Real long_sum(std::int64_t count, Term term) {
  constexpr std::int64_t kBlock = 4096;
  constexpr std::int64_t kMostLanes = 32;
  const std::int64_t order = random_below(4);
  Real total = 0;
  if (order > 0) {
    const std::int64_t lanes = order < 2 ? 1 : std::int64_t{2} << random_below(5);
    Real of_lane[kMostLanes] = {};
    for (std::int64_t i = 0; i < count; ++i) {
      of_lane[i & (lanes - 1)] += term(i);
    }
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      total += of_lane[lane];
    }
    return total;
  }
  std::vector<std::int64_t> blocks;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    blocks.push_back(first);
  }
  shuffle(blocks);
  std::vector<Real> terms;
  for (const std::int64_t first : blocks) {
    terms.clear();
    for (std::int64_t i = first; i < std::min(count, first + kBlock); ++i) {
      terms.push_back(term(i));
    }
    shuffle(terms);
    for (const Real& one : terms) {
      total += one;
    }
  }
  return total;
}

// The sum of term(0) to term(count - 1) in an order that the contract leaves open.
template <class Real, class Term>
Real sum(std::int64_t count, Term term) {
  constexpr std::int64_t kLong = std::int64_t{1} << 17;
  if constexpr (kIsPerturbed<Real>) {
    if (count > kLong) {
      return long_sum<Real>(count, term);
    }
    std::vector<Real> terms;
    for (std::int64_t i = 0; i < count; ++i) {
      terms.push_back(term(i));
    }
    return sum_of(terms);
  } else {
    Real total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      total += term(i);
    }
    return total;
  }
}

// The mean of these terms: a sum in an open order, divided at the end, or updated with each term (Welford), which errs
// more where terms are sorted.
template <class Real, class Term>
Real mean(std::int64_t count, Term term) {
  if constexpr (kIsPerturbed<Real>) {
    if (centred_random() < 0) {
      Real running = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        running += (term(i) - running) / Real(i + 1);
      }
      return running;
    }
  }
  return sum<Real>(count, term) / Real(count);
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

// The type that holds one or the other.
template <class A, class B>
auto one_of() {
  if constexpr (Number<A>) {
    return A();
  } else if constexpr (Number<B>) {
    return B();
  } else {
    return std::common_type_t<A, B>();
  }
}

// `a` with probability p, else `b`. A call of a kernel may draw either (apo:random).
template <class Real, class A, class B>
auto drawn(Real p, A a, B b) {
  using Value = decltype(one_of<A, B>());
  const auto first = static_cast<double>(p);
  const double probabilities[] = {first, 1 - first};
  if constexpr (kIsExact<Real>) {
    check_probabilities(probabilities);
  }
  return taken(probabilities) == 0 ? Value(a) : Value(b);
}

// An index below `count`, each with a probability in proportion to its weight.
template <class Real, class Weight>
std::int64_t drawn(std::int64_t count, Weight weight) {
  if (count < 1 || count > static_cast<std::int64_t>(kMostAlternatives)) {
    throw std::domain_error("drawn() of " + std::to_string(count) + " weights: there can be 1 to " +
                            std::to_string(kMostAlternatives));
  }
  std::vector<double> probabilities;
  double all = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    all += probabilities.emplace_back(static_cast<double>(weight(i)));
  }
  for (double& one : probabilities) {
    one /= all;
  }
  if constexpr (kIsExact<Real>) {
    check_probabilities(probabilities);
  }
  return taken(probabilities);
}

}  // namespace apo::oracle

template <apo::oracle::Number T>
struct std::numeric_limits<T> : std::numeric_limits<float> {};

// What a family file sees without naming a namespace.
using apo::Random;
using apo::oracle::approximate;
using apo::oracle::decided;
using apo::oracle::drawn;
using apo::oracle::either;
using apo::oracle::max;
using apo::oracle::mean;
using apo::oracle::min;
using apo::oracle::rounded;
using apo::oracle::rsqrt;
using apo::oracle::sum;
using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cbrt, std::ceil, std::cos, std::cosh, std::erf,
    std::erfc, std::exp, std::exp2, std::expm1, std::fabs, std::floor, std::fma, std::fmax, std::fmin, std::hypot,
    std::isfinite, std::isnan, std::lgamma, std::log, std::log10, std::log1p, std::log2, std::pow, std::round, std::sin,
    std::sinh, std::sqrt, std::tan, std::tanh, std::trunc;
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
