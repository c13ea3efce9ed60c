// harness/evaluate/correctness/draws.cpp - tests sums of what was drawn, and products at each distance.
#include "harness/evaluate/correctness/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr double kLargestPosition = 0.5;

}  // namespace

// ---------------------------------------------------------------- sums

void DrawSum::add(double term, double its_variance, double its_largest) {
  value += term;
  variance += its_variance;
  largest = std::max(largest, its_largest);
}

void DrawSum::add(const DrawSum& other) {
  add(other.value, other.variance, other.largest);
}

double DrawSum::surprise() const {
  const double distance = std::fabs(value);
  const double below = 2 * (variance + largest * distance / 3);
  return below > 0 ? distance * distance / below : 0;
}

void DrawSums::add(const DrawSums& other) {
  for (std::size_t i = 0; i < kDrawTerms; ++i) {
    terms[i].add(other.terms[i]);
  }
  draws += other.draws;
  first += other.first;
  expected_first += other.expected_first;
}

std::string DrawSums::problem() const {
  const auto is_wrong = [&](DrawTerm term) { return terms[static_cast<std::size_t>(term)].surprise() > kMostSurprise; };
  if (is_wrong(DrawTerm::impossible)) {
    return fmt::format("{} of {} draws took what has the probability 0",
                       terms[static_cast<std::size_t>(DrawTerm::impossible)].value, draws);
  }
  if (is_wrong(DrawTerm::position)) {
    return fmt::format("{} of {} draws took the first alternative of drawn(), expected {}", first, draws,
                       format_g(expected_first, 6));
  }
  if (is_wrong(DrawTerm::likeliness)) {
    const bool often = terms[static_cast<std::size_t>(DrawTerm::likeliness)].value > 0;
    return fmt::format("of {} draws too {} took what is likelier", draws, often ? "many" : "few");
  }
  if (is_wrong(DrawTerm::by_sign) || is_wrong(DrawTerm::by_size)) {
    return fmt::format("what {} draws took depends on the {} of the values", draws,
                       is_wrong(DrawTerm::by_sign) ? "sign" : "size");
  }
  return "";
}

namespace {

// The mean 0 and the variance of what is drawn, whatever the probabilities are.
struct Term {
  double value = 0;
  double variance = 0;
  double largest = 0;
};

template <class Score>
Term term_of(const std::vector<double>& probabilities, std::size_t taken, Score score) {
  double mean = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    mean += probabilities[i] * score(i);
  }
  Term term{.value = score(taken) - mean};
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double deviation = score(i) - mean;
    term.variance += probabilities[i] * deviation * deviation;
    term.largest = std::max(term.largest, std::fabs(deviation));
  }
  return term;
}

int sign_of(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

}  // namespace

void CallDraws::add(std::int64_t unit, std::size_t draw, const std::vector<double>& probabilities, std::size_t taken,
                    double value, double value_before) {
  constexpr double kImpossible = 1e-12;
  std::vector<double> before(probabilities.size());
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    before[i] = sum + probabilities[i] / 2;
    sum += probabilities[i];
  }
  const Term position = term_of(probabilities, taken, [&](std::size_t i) { return before[i]; });
  const Term likeliness = term_of(probabilities, taken, [&](std::size_t i) { return probabilities[i]; });
  constexpr double kRounding = 1e-6;  // what equal probabilities differ by at most
  const auto add_term = [&](DrawTerm which, const Term& term, int sign) {
    if (sign != 0 && term.largest > kRounding) {
      sums.terms[static_cast<std::size_t>(which)].add(sign * term.value, term.variance, term.largest);
    }
  };
  add_term(DrawTerm::position, position, 1);
  add_term(DrawTerm::likeliness, likeliness, 1);
  add_term(DrawTerm::by_sign, position, sign_of(value));
  add_term(DrawTerm::by_size, position, sign_of(std::fabs(value) - std::fabs(value_before)));
  if (probabilities[taken] < kImpossible) {
    sums.terms[static_cast<std::size_t>(DrawTerm::impossible)].add(1, 0, 1);
  }
  ++sums.draws;
  sums.first += taken == 0 ? 1 : 0;
  sums.expected_first += probabilities.front();
  std::vector<Position>& of_unit = units[unit];
  of_unit.resize(std::max(of_unit.size(), draw + 1));
  of_unit[draw] = {.value = position.value, .by_sign = position.value * sign_of(value), .variance = position.variance};
}

// ---------------------------------------------------------------- draws that depend on each other

namespace {

using Complex = std::complex<double>;

// The discrete Fourier transform in place; the size is a power of two (Cooley & Tukey 1965).
void transform(std::vector<Complex>& x) {
  const std::size_t size = x.size();
  for (std::size_t i = 1, reversed = 0; i < size; ++i) {
    std::size_t bit = size >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) {
      reversed ^= bit;
    }
    reversed ^= bit;
    if (i < reversed) {
      std::swap(x[i], x[reversed]);
    }
  }
  for (std::size_t half = 1; half < size; half *= 2) {
    for (std::size_t k = 0; k < half; ++k) {
      const Complex turn = std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half));
      for (std::size_t i = k; i < size; i += 2 * half) {
        const Complex other = turn * x[i + half];
        x[i + half] = x[i] - other;
        x[i] += other;
      }
    }
  }
}

// At each distance d the sum over i of x[i] * x[i + d].
std::vector<double> products_at_distances(const std::vector<double>& x) {
  std::vector<Complex> transformed(std::bit_ceil(2 * x.size()));
  std::ranges::copy(x, transformed.begin());
  transform(transformed);
  std::ranges::transform(transformed, transformed.begin(), [](Complex each) { return Complex(std::norm(each)); });
  transform(transformed);  // of an even function this is the inverse, but for the factor
  std::vector<double> products(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    products[i] = transformed[i].real() / static_cast<double>(transformed.size());
  }
  return products;
}

// The distance at which draws are more alike, or unlike, than independent ones, "" where there is none.
std::string alike_at_a_distance(const std::map<std::int64_t, std::vector<Position>>& units,
                                double Position::*position) {
  constexpr std::size_t kMost = std::size_t{1} << 16;  // draws
  std::vector<double> values;
  std::vector<double> variances;
  double largest = 0;
  for (const auto& [unit, draws] : units) {
    for (std::size_t i = 0; i < draws.size() && values.size() < kMost; ++i) {
      values.push_back(draws[i].*position);
      variances.push_back(draws[i].variance);
      largest = std::max(largest, std::fabs(draws[i].value));
    }
  }
  const std::vector<double> products = products_at_distances(values);
  const std::vector<double> of_variances = products_at_distances(variances);
  const double most = kMostSurprise + std::log(static_cast<double>(std::max<std::size_t>(1, values.size())));
  for (std::size_t d = 1; d < values.size(); ++d) {
    const DrawSum sum{.value = products[d], .variance = std::max(0.0, of_variances[d]), .largest = largest * largest};
    if (sum.surprise() > most) {
      return fmt::format("draws that are {} apart are {}: they have to be independent", d,
                         products[d] > 0 ? "alike" : "opposite");
    }
  }
  return "";
}

}  // namespace

std::string CallDraws::problem() const {
  if (!inconsistent.empty()) {
    return inconsistent;
  }
  const std::string of_sums = sums.problem();
  if (!of_sums.empty()) {
    return of_sums;
  }
  const std::string alike = alike_at_a_distance(units, &Position::value);
  return alike.empty() ? alike_at_a_distance(units, &Position::by_sign) : alike;
}

std::string CallDraws::problem_of_a_unit(std::int64_t all_units) const {
  const double most = kMostSurprise + std::log(static_cast<double>(std::max<std::int64_t>(1, all_units)));
  for (const auto& [unit, draws] : units) {
    DrawSum sum;
    for (const Position& draw : draws) {
      sum.add(draw.value, draw.variance, kLargestPosition);
    }
    if (sum.surprise() > most) {
      return fmt::format("unit {} has too many draws that took the {} alternatives of drawn()", unit,
                         sum.value < 0 ? "first" : "last");
    }
  }
  return inconsistent;
}

bool DrawsBySeed::add(const std::vector<std::byte>& seed, const DrawSums& draws) {
  const auto [known, is_new] = draws_.try_emplace(seed, draws);
  if (!is_new && seed.empty()) {
    known->second.add(draws);
  }
  return is_new || seed.empty();
}

void DrawsBySeed::add(const DrawsBySeed& other) {
  for (const auto& [seed, draws] : other.draws_) {
    add(seed, draws);
  }
}

DrawSums DrawsBySeed::sum() const {
  DrawSums sum;
  for (const auto& [seed, draws] : draws_) {
    sum.add(draws);
  }
  return sum;
}

namespace {

// Empty: nothing decides what is drawn.
std::vector<std::byte> seed_of(const Family& family, const InputSet& inputs) {
  const auto is_named = [&](const std::string& name) {
    return std::ranges::any_of(family.tensors, [&](const TensorSpec& tensor) { return tensor.drawn_by == name; });
  };
  const bool any_named = std::ranges::any_of(family.tensors, [](const TensorSpec& one) { return one.drawn_by != ""; });
  std::vector<std::byte> seed;
  for (const TensorSpec& tensor : family.tensors) {
    const bool decides = any_named ? is_named(tensor.name) : !is_float(tensor.dtype);
    if (tensor.role == Role::input && decides) {
      const std::vector<std::byte>& bytes = inputs.bytes.at(tensor.name);
      seed.insert(seed.end(), bytes.begin(), bytes.end());
    }
  }
  return seed;
}

}  // namespace

std::string RepeatedCalls::add(const InputSet& inputs, const CallDraws& call) {
  if (!draws_.add(seed_of(family_, inputs), call.sums)) {
    return "";
  }
  for (const auto& [unit, draws] : call.units) {
    std::vector<Position>& sums = units_[unit];
    sums.resize(std::max(sums.size(), draws.size()));
    const auto add = [&](DrawSum& alike, double& sum, double value, double variance) {
      alike.add(sum * value, sum * sum * variance, kLargestPosition * std::fabs(sum));
      sum += value;
    };
    for (std::size_t i = 0; i < draws.size(); ++i) {
      add(alike_, sums[i].value, draws[i].value, draws[i].variance);
      add(alike_by_sign_, sums[i].by_sign, draws[i].by_sign, draws[i].variance);
    }
  }
  return std::max(alike_.surprise(), alike_by_sign_.surprise()) > kMostSurprise
             ? "calls draw alike that have to draw anew"
             : "";
}

}  // namespace apo
