// harness/research/search/space_model.h - predicts the settings of a space from those that were measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/research/prediction/cholesky.h"
#include "harness/research/search/search_space.h"

namespace apo {

struct Evaluated {
  std::size_t point = 0;  // of the space
  double cost = 0;        // finite log time
};

// A Bayesian linear model of the log times, as a Gaussian process (Rasmussen & Williams 2006, section 2.1): a constant,
// an effect of each step of each parameter, an effect of each pair of them, and a rest that is each configuration's
// own. How much each parameter matters, the pairs beside the single effects, and the rest, are chosen by the likelihood
// of what was evaluated.
class SpaceModel {
 public:
  // `history` has one entry at least; of more than kMostEvaluated the fastest count. Keeps a reference to the space.
  SpaceModel(const SearchSpace& space, const std::vector<Evaluated>& history);

  struct Belief {
    double mean = 0;  // log time
    double sd = 0;
  };
  Belief at(std::size_t point) const;
  double best() const { return best_; }  // the smallest log time that was evaluated

  static constexpr std::size_t kMostEvaluated = 64;

 private:
  struct Scales {
    std::vector<double> parameters;  // of the effects of each parameter, as a variance
    double pairs = 0.3;              // of a pair's effects beside the product of its parameters' scales
    double rest = 0.05;
  };
  void take(const std::vector<Evaluated>& history);
  double covariance(const Levels& a, const Levels& b, const Scales& scales) const;
  double covariance_of(double sum, double squares, const Scales& scales) const;
  double log_evidence(const Scales& scales) const;
  std::vector<double> covariances(const Scales& scales) const;
  void choose_scales();
  void fit();

  const SearchSpace& space_;
  std::vector<std::vector<std::vector<double>>> kernels_;  // by parameter and two of its levels
  std::vector<std::size_t> points_;                        // that were evaluated
  std::vector<std::vector<double>> shared_;                // by parameter: the kernel of each two of them, by rows
  std::vector<double> costs_;                              // of them, about their mean
  double mean_ = 0;
  double best_ = 0;
  Scales scales_;
  CholeskyFactor factor_;
  std::vector<double> weights_;
  double variance_ = 1;  // that the scales are parts of
};

// Returns the point outside of the history with the largest expected improvement over the fastest one (Mockus 1975;
// Jones et al. 1998); a random one without a history, nullopt if the history has all points. A pure function: `seed`
// orders equals.
std::optional<std::size_t> next_point(const SearchSpace& space, const std::vector<Evaluated>& history,
                                      std::uint64_t seed);

}  // namespace apo
