// kernels/oracle/counted.h - a number type that counts the work of a reference.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "kernels/oracle/perturbed.h"

namespace apo::oracle {

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

}  // namespace apo::oracle
