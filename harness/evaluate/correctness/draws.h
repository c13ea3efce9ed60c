// harness/evaluate/correctness/draws.h - whether calls drew by the probabilities of their contract, for outputs that
// are random by contract.
//
// A draw has few alternatives, each with a probability. Of each draw the terms below have the mean 0 and a known
// variance, whatever the probabilities are, so that sums of them tell a wrong distribution, and products of two of them
// draws that depend on each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/runtime/tensor_data.h"

namespace apo {

// A sum of independent terms of mean 0.
struct DrawSum {
  double value = 0;
  double variance = 0;
  double largest = 0;  // that a term may be

  void add(double term, double its_variance, double its_largest);
  void add(const DrawSum& other);
  // -log of how likely a sum is at least so far from 0 on one side, at most: Bernstein's inequality, which holds for
  // any number of terms, and for terms that have the mean 0 after all that came before (Freedman 1975).
  double surprise() const;
};

// Right draws are beyond this once in 10^11 calls, and once in 10^9 verifications.
inline constexpr double kMostSurprise = 28;

// What the terms of one draw are: `position` is the probability of the alternatives before the drawn one and half of
// its own, less 1/2, so that its sum shows what is drawn too often; `likeliness` is the probability of the drawn
// alternative less its mean, which shows rounding to the nearest. The others show draws that depend on the values: the
// position by the sign of the value, and by whether it is larger than the one before.
enum class DrawTerm : std::uint8_t { position, likeliness, by_sign, by_size, impossible };
inline constexpr std::size_t kDrawTerms = 5;

struct DrawSums {
  std::array<DrawSum, kDrawTerms> terms;
  std::int64_t draws = 0;  // whose alternatives can be told apart
  std::int64_t first = 0;  // of them took the first one
  double expected_first = 0;

  void add(const DrawSums& other);
  // What is wrong with them, in one sentence; "" where nothing is.
  std::string problem() const;
};

// The position of one draw with its variance; all 0 where nothing tells what was drawn. `by_sign`: times the sign of
// the value, as numbers are alike that are added to magnitudes.
struct Position {
  double value = 0;
  double by_sign = 0;
  double variance = 0;
};

// The draws of one call, unit by unit, in the order of the reference.
struct CallDraws {
  std::map<std::int64_t, std::vector<Position>> units;
  DrawSums sums;
  std::string inconsistent;  // an element that shows another alternative than an earlier one of the same draw; "": none

  void add(std::int64_t unit, std::size_t draw, const std::vector<double>& probabilities, std::size_t taken,
           double value, double value_before);
  // What is wrong with this call, "" where nothing is: its sums, or draws at some distance that are alike.
  std::string problem() const;
  // The same of each unit by itself, of which these are some of `units`, chosen for what they hold: that is no fair
  // sample of draws, but no unit may be beyond what one of all is.
  std::string problem_of_a_unit(std::int64_t all_units) const;
};

// What calls drew, by their seed: another call with the same one adds nothing. Without a seed each call does.
class DrawsBySeed {
 public:
  // Returns whether they are new.
  bool add(const std::vector<std::byte>& seed, const DrawSums& draws);
  void add(const DrawsBySeed& other);
  DrawSums sum() const;

 private:
  std::map<std::vector<std::byte>, DrawSums> draws_;
};

// Calls on one shape, each of which has to draw anew where its seed is another: the inputs that the contract names as
// the seed, else all integers. Where there are none, each call has to.
class RepeatedCalls {
 public:
  explicit RepeatedCalls(const Family& family) : family_(family) {}
  // Returns what is wrong with all of them, "" where nothing is.
  std::string add(const InputSet& inputs, const CallDraws& call);
  const DrawsBySeed& draws() const { return draws_; }

 private:
  const Family& family_;
  DrawsBySeed draws_;
  std::map<std::int64_t, std::vector<Position>> units_;  // the sum of the positions of each draw
  DrawSum alike_;
  DrawSum alike_by_sign_;
};

}  // namespace apo
