// model/random.h - random numbers that are a function of (seed, stream, index): nothing depends on the order of draws.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace byte_lm {

// The finaliser of splitmix64 (Steele, Lea & Flood 2014).
inline std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

// FNV-1a, finished by mix().
inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return mix(hash);
}

class Random {
 public:
  Random(std::uint64_t seed, std::string_view stream) : key_(mix(seed + 0x9e3779b97f4a7c15u) ^ hash_of(stream)) {}

  std::uint64_t bits(std::uint64_t index) const { return mix(key_ + 0x9e3779b97f4a7c15u * (index + 1)); }
  // In (0, 1): never 0, so that a logarithm of it is finite.
  double uniform(std::uint64_t index) const { return (static_cast<double>(bits(index) >> 11) + 0.5) * 0x1.0p-53; }
  double normal(std::uint64_t index) const {
    const double radius = std::sqrt(-2 * std::log(uniform(2 * index)));
    return radius * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  }

 private:
  std::uint64_t key_;
};

}  // namespace byte_lm
