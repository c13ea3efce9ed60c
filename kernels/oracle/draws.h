// kernels/oracle/draws.h - which of its alternatives each drawn() of a reference takes: the program decides, so that it
// can find out what a call may be, and which draw decides which element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/random.h"

namespace apo::oracle {

inline constexpr std::size_t kMostAlternatives = 64;

enum class Taking : std::uint8_t {
  one,        // the alternative `which`; the last where there are fewer
  by_chance,  // as the probabilities say
  digit,      // the first or the second: digit `which` of the draw's number
  hash        // the first or the second: a bit of a hash of its number
};

// The draws of this thread's call of the reference, numbered from 0 on.
struct Draws {
  Taking taking = Taking::one;
  std::int64_t which = 0;
  std::uint64_t seed = 0;
  std::int64_t count = 0;
  std::size_t most = 0;                              // alternatives of a draw
  std::vector<std::vector<double>>* kept = nullptr;  // takes the probabilities of each draw
};
inline thread_local Draws draws;

inline std::int64_t taken_by_chance(std::span<const double> probabilities, std::uint64_t number) {
  double left = Random(draws.seed ^ mix64(number)).uniform();
  std::int64_t taken = 0;
  while (taken + 1 < std::ssize(probabilities) && left >= probabilities[static_cast<std::size_t>(taken)]) {
    left -= probabilities[static_cast<std::size_t>(taken++)];
  }
  return taken;
}

inline std::int64_t taken(std::span<const double> probabilities) {
  const auto number = static_cast<std::uint64_t>(draws.count++);
  const std::int64_t last = std::ssize(probabilities) - 1;
  draws.most = std::max(draws.most, probabilities.size());
  if (draws.kept != nullptr) {
    draws.kept->emplace_back(probabilities.begin(), probabilities.end());
  }
  switch (draws.taking) {
    case Taking::by_chance:
      return taken_by_chance(probabilities, number);
    case Taking::digit:
      return std::min<std::int64_t>(last, static_cast<std::int64_t>(number >> draws.which & 1));
    case Taking::hash:
      return std::min<std::int64_t>(last, static_cast<std::int64_t>(mix64(number) >> 63));
    case Taking::one:
      break;
  }
  return std::min(last, draws.which);
}

inline void check_probabilities(std::span<const double> probabilities) {
  for (const double one : probabilities) {
    if (!(one >= 0 && one <= 1)) {
      throw std::domain_error("drawn() with a probability of " + std::to_string(one));
    }
  }
}

}  // namespace apo::oracle
