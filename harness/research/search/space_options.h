// harness/research/search/space_options.h - a variant's settings as points of a grid, and which to measure next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/research/prediction/effects.h"

namespace apo {

// The model suggests so many settings at a time.
inline constexpr std::size_t kSuggestions = 8;

// Settings whose effect is known. It is a log speed-up over a common reference.
struct KnownSettings {
  Settings settings;
  double effect = 0;
};

// Returns, of the settings in `legal`, the neighbours of the best known ones and those that the model suggests after
// `known`. Every tunable is stated. Deterministic in its arguments.
std::vector<Settings> suggested_settings(const Variant& variant, const std::vector<Settings>& legal,
                                         const std::vector<KnownSettings>& known, std::uint64_t seed);

// One level of each tunable, from 0: its values in order of their size.
using Levels = std::vector<std::size_t>;

class SearchSpace {
 public:
  // `counts` has the number of levels of each tunable; no two entries of `legal` are equal.
  SearchSpace(Levels counts, std::vector<Levels> legal);

  const Levels& counts() const { return counts_; }
  std::size_t size() const { return legal_.size(); }
  const Levels& point(std::size_t index) const { return legal_[index]; }
  // Returns the index of these levels; nullopt if they are not legal.
  std::optional<std::size_t> find(const Levels& levels) const;
  // Returns the next legal level of each tunable in both directions.
  std::vector<std::size_t> neighbours(std::size_t index) const;

 private:
  Levels counts_;
  std::vector<Levels> legal_;
  std::map<Levels, std::size_t> indices_;
};

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
