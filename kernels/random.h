// kernels/random.h - counter-based random numbers: the same (key, counter) gives the same number on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <utility>

namespace apo {

// SplitMix64's finaliser (Steele, Lea & Flood 2014): a bijection with full avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Derives an independent seed from a parent seed and a name, e.g. derive_seed(campaign, "round").
constexpr std::uint64_t derive_seed(std::uint64_t parent, std::string_view name, std::uint64_t index = 0) {
  std::uint64_t hash = mix64(parent);
  for (const char letter : name) {
    hash = mix64(hash ^ static_cast<unsigned char>(letter));
  }
  return mix64(mix64(hash ^ 0x100u) ^ index);  // 0x100 is no letter: it ends the name
}

// A stream of numbers; cheap to construct, so one per row is fine.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(mix64(seed)) {}
  constexpr std::uint64_t next() { return mix64(state_++); }
  constexpr void skip(std::uint64_t numbers) { state_ += numbers; }
  constexpr bool coin() { return (next() >> 63) != 0; }
  // Uniform in (0, 1), never 0 or 1.
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Uniform integer in [0, bound); the bias of the remainder is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // Box-Muller (1958), one of the two values. Two statements: operands of * may be evaluated in either order.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

// Fisher & Yates (1938). A journal's rounds are replayed from their seeds: the order must never change.
template <class Items>
void shuffle(Items& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(i)]);
  }
}

}  // namespace apo
