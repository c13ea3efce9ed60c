// harness/research/prediction/effects.h - estimates the effect between two configurations from all statements about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace apo {

class CholeskyFactor {
 public:
  CholeskyFactor() = default;
  // `matrix` by rows; only its lower triangle is read. Cubic in `size`.
  CholeskyFactor(std::vector<double> matrix, std::size_t size);

  // Solves L x = right, in place.
  void solve_half(std::vector<double>& right) const;
  // Solves the whole system, matrix x = right.
  std::vector<double> solved(std::vector<double> right) const;
  double log_determinant() const;  // of the matrix

 private:
  std::size_t size_ = 0;
  std::vector<double> factor_;  // lower triangle, by rows
};

// The evidence behind a statement.
enum class Basis : std::uint8_t {
  here,       // a judgement on this machine and workload class
  elsewhere,  // a judgement on another one
  author,     // an apo:predict
  technique,  // earlier effects of the techniques that a variant adds
  relation,   // another text of the variant, or other settings of it
};
inline constexpr std::size_t kBases = 5;

// `to` is exp(effect) times as fast as `from`, give or take the standard deviation `sd` of that logarithm.
struct StatedEffect {
  std::size_t from = 0;
  std::size_t to = 0;
  double effect = 0;
  double sd = 1;
  Basis basis = Basis::relation;
  std::int64_t experiment = 0;  // 0: none
};

struct Estimate {
  bool connected = true;  // statements lead from the one to the other
  double effect = 0;
  double sd = 0;
  std::array<double, kBases> share = {};  // of the estimate's weight, by Basis; 1 in all
  std::vector<std::int64_t> experiments;  // that carry a tenth of its weight at least, the weightiest first
};

// All statements at once, weighted by their variances: the generalised least squares estimate (a Gaussian Markov random
// field). One comparison outweighs a chain of many, and sources that agree narrow the band.
class EffectNetwork {
 public:
  // `sd` of the statements is at least kSharpest. Cubic in `nodes`: thousands take minutes.
  EffectNetwork(std::size_t nodes, std::vector<StatedEffect> statements);
  Estimate difference(std::size_t from, std::size_t to) const;

  static constexpr double kSharpest = 0.0005;

 private:
  std::size_t nodes_ = 0;
  std::vector<StatedEffect> statements_;
  std::vector<std::size_t> component_;  // of each node: the smallest node that statements lead to
  CholeskyFactor factor_;               // of the precision matrix
  std::vector<double> mean_;
};

}  // namespace apo
