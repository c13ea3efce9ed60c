// harness/research/search/space_options.cpp - a variant's tunables as a space, and a model of it that suggests points.
#include "harness/research/search/space_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/normal.h"
#include "kernels/random.h"

namespace apo {

namespace {

Levels levels_of(const Variant& variant, const Settings& settings) {
  Levels levels;
  for (const Tunable& tunable : variant.tunables) {
    const auto stated = settings.find(tunable.name);
    const std::int64_t value = stated == settings.end() ? tunable.values.front() : stated->second;
    levels.push_back(static_cast<std::size_t>(
        std::ranges::count_if(tunable.values, [&](std::int64_t other) { return other < value; })));
  }
  return levels;
}

SearchSpace search_space_of(const Variant& variant, const std::vector<Settings>& legal) {
  Levels counts;
  for (const Tunable& tunable : variant.tunables) {
    counts.push_back(tunable.values.size());
  }
  std::vector<Levels> levels;
  for (const Settings& settings : legal) {
    levels.push_back(levels_of(variant, settings));
  }
  return {std::move(counts), std::move(levels)};
}

}  // namespace

// Each suggestion counts as the fastest one when the next is asked for, so that suggestions spread.
std::vector<Settings> suggested_settings(const Variant& variant, const std::vector<Settings>& legal,
                                         const std::vector<KnownSettings>& known, std::uint64_t seed) {
  const SearchSpace space = search_space_of(variant, legal);
  std::vector<Evaluated> history;
  for (const KnownSettings& one : known) {
    if (const auto point = space.find(levels_of(variant, one.settings))) {
      history.push_back({.point = *point, .cost = -one.effect});
    }
  }
  const auto best = std::ranges::min_element(history, {}, &Evaluated::cost);
  std::vector<std::size_t> points = best == history.end() ? std::vector<std::size_t>() : space.neighbours(best->point);
  const double lowest = best == history.end() ? 0 : best->cost;
  for (std::size_t i = 0; i < kSuggestions; ++i) {
    const auto next = next_point(space, history, seed);
    if (!next) {
      break;
    }
    history.push_back({.point = *next, .cost = lowest});
    points.push_back(*next);
  }
  std::vector<Settings> options;
  for (const std::size_t point : points) {
    if (std::ranges::find(options, legal[point]) == options.end()) {
      options.push_back(legal[point]);
    }
  }
  return options;
}

SearchSpace::SearchSpace(Levels counts, std::vector<Levels> legal)
    : counts_(std::move(counts)), legal_(std::move(legal)) {
  for (std::size_t i = 0; i < legal_.size(); ++i) {
    APO_CHECK(legal_[i].size() == counts_.size());
    indices_.emplace(legal_[i], i);
  }
}

std::optional<std::size_t> SearchSpace::find(const Levels& levels) const {
  const auto found = indices_.find(levels);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> SearchSpace::neighbours(std::size_t index) const {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < counts_.size(); ++p) {
    for (const bool up : {false, true}) {
      Levels levels = legal_[index];
      std::optional<std::size_t> next;
      while (!next && (up ? levels[p] + 1 < counts_[p] : levels[p] > 0)) {
        levels[p] = up ? levels[p] + 1 : levels[p] - 1;
        next = find(levels);
      }
      if (next) {
        found.push_back(*next);
      }
    }
  }
  return found;
}

namespace {

// An inverse gamma prior of the variance of log times: about (25 %)^2, worth two observations.
constexpr double kPriorShape = 1;
constexpr double kPriorScale = 0.0625;
// Deviation of a scale from 1, in logarithms: a parameter without evidence counts as much as the others.
constexpr double kScaleSd = 1.5;

using Kernel = std::vector<std::vector<double>>;

// Centred, so that the constant stays the constant's, and 1 on average on its diagonal.
Kernel centred(Kernel kernel) {
  const std::size_t size = kernel.size();
  const auto count = static_cast<double>(size);
  std::vector<double> means(size);
  for (std::size_t i = 0; i < size; ++i) {
    means[i] = std::accumulate(kernel[i].begin(), kernel[i].end(), 0.0) / count;
  }
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
  double trace = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      kernel[i][j] += mean - means[i] - means[j];
    }
    trace += kernel[i][i];
  }
  for (std::vector<double>& row : kernel) {
    for (double& value : row) {
      value = trace > 0 ? value * count / trace : 0;
    }
  }
  return kernel;
}

// A random walk, so that each step has an effect of its own.
Kernel kernel_of(std::size_t levels) {
  Kernel kernel(levels, std::vector<double>(levels));
  for (std::size_t i = 0; i < levels; ++i) {
    for (std::size_t j = 0; j < levels; ++j) {
      kernel[i][j] = static_cast<double>(std::min(i, j));
    }
  }
  return centred(std::move(kernel));
}

// The expectation of `best` minus the cost, where a larger cost counts as no improvement.
double expected_improvement(const SpaceModel::Belief& belief, double best) {
  const double z = (best - belief.mean) / belief.sd;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return belief.sd * (z * normal_probability(z) + density);
}

}  // namespace

SpaceModel::SpaceModel(const SearchSpace& space, const std::vector<Evaluated>& history) : space_(space) {
  for (const std::size_t levels : space.counts()) {
    kernels_.push_back(kernel_of(levels));
  }
  scales_.parameters.assign(kernels_.size(), 1.0);
  take(history);
  for (std::size_t p = 0; p < kernels_.size(); ++p) {
    std::vector<double>& shared = shared_.emplace_back();
    for (const std::size_t a : points_) {
      for (const std::size_t b : points_) {
        shared.push_back(kernels_[p][space_.point(a)[p]][space_.point(b)[p]]);
      }
    }
  }
  choose_scales();
  fit();
}

void SpaceModel::take(const std::vector<Evaluated>& history) {
  APO_CHECK(!history.empty());
  std::vector<Evaluated> taken = history;
  std::ranges::stable_sort(taken, {}, &Evaluated::cost);
  taken.resize(std::min(taken.size(), kMostEvaluated));
  for (const Evaluated& one : taken) {
    points_.push_back(one.point);
    costs_.push_back(one.cost);
  }
  best_ = costs_.front();
  mean_ = std::accumulate(costs_.begin(), costs_.end(), 0.0) / static_cast<double>(costs_.size());
  for (double& cost : costs_) {
    cost -= mean_;
  }
}

// The effects of a pair are the product of those of its two: the sum over all pairs is half of (sum)^2 - sum of
// squares.
double SpaceModel::covariance(const Levels& a, const Levels& b, const Scales& scales) const {
  double sum = 0;
  double squares = 0;
  for (std::size_t p = 0; p < kernels_.size(); ++p) {
    const double one = scales.parameters[p] * kernels_[p][a[p]][b[p]];
    sum += one;
    squares += one * one;
  }
  return covariance_of(sum, squares, scales);
}

double SpaceModel::covariance_of(double sum, double squares, const Scales& scales) const {
  const auto count = static_cast<double>(std::max<std::size_t>(kernels_.size(), 1));
  return 1 + (sum + scales.pairs * 0.5 * (sum * sum - squares)) / count;
}

std::vector<double> SpaceModel::covariances(const Scales& scales) const {
  const std::size_t size = points_.size();
  std::vector<double> sums(size * size);
  std::vector<double> squares(size * size);
  for (std::size_t p = 0; p < kernels_.size(); ++p) {
    for (std::size_t cell = 0; cell < size * size; ++cell) {
      const double one = scales.parameters[p] * shared_[p][cell];
      sums[cell] += one;
      squares[cell] += one * one;
    }
  }
  for (std::size_t cell = 0; cell < size * size; ++cell) {
    sums[cell] = covariance_of(sums[cell], squares[cell], scales);
  }
  for (std::size_t i = 0; i < size; ++i) {
    sums[i * size + i] += scales.rest;
  }
  return sums;
}

// Log evidence of the costs under these scales, variance integrated out, plus that of the scales under their prior.
double SpaceModel::log_evidence(const Scales& scales) const {
  const CholeskyFactor factor(covariances(scales), points_.size());
  std::vector<double> half = costs_;
  factor.solve_half(half);
  const double square = std::inner_product(half.begin(), half.end(), half.begin(), 0.0);
  double prior = 0;
  for (const double scale : scales.parameters) {
    prior -= 0.5 * std::pow(std::log(scale) / kScaleSd, 2);
  }
  return prior - 0.5 * factor.log_determinant() -
         (0.5 * static_cast<double>(costs_.size()) + kPriorShape) * std::log(0.5 * square + kPriorScale);
}

// Optimises one scale after the other, twice.
void SpaceModel::choose_scales() {
  static constexpr std::array kParameterScales = {0.03, 0.3, 1.0, 3.0, 10.0};
  static constexpr std::array kPairScales = {0.02, 0.1, 0.3, 1.0};
  static constexpr std::array kRestScales = {0.005, 0.05, 0.3};
  double best = log_evidence(scales_);
  const auto try_all = [&](double& scale, const auto& values) {
    double chosen = scale;
    for (const double value : values) {
      scale = value;
      const double evidence = log_evidence(scales_);
      if (evidence > best) {
        best = evidence;
        chosen = value;
      }
    }
    scale = chosen;
  };
  for (int pass = 0; pass < 2; ++pass) {
    for (double& scale : scales_.parameters) {
      try_all(scale, kParameterScales);
    }
    try_all(scales_.pairs, kPairScales);
    try_all(scales_.rest, kRestScales);
  }
}

void SpaceModel::fit() {
  factor_ = CholeskyFactor(covariances(scales_), points_.size());
  weights_ = factor_.solved(costs_);
  const double square = std::inner_product(weights_.begin(), weights_.end(), costs_.begin(), 0.0);
  variance_ = (0.5 * square + kPriorScale) / (0.5 * static_cast<double>(costs_.size()) + kPriorShape);
}

SpaceModel::Belief SpaceModel::at(std::size_t point) const {
  const Levels& levels = space_.point(point);
  std::vector<double> shared;
  for (const std::size_t other : points_) {
    shared.push_back(covariance(levels, space_.point(other), scales_));
  }
  const double mean = std::inner_product(shared.begin(), shared.end(), weights_.begin(), 0.0);
  const double own = covariance(levels, levels, scales_) + scales_.rest;
  factor_.solve_half(shared);
  const double known = std::inner_product(shared.begin(), shared.end(), shared.begin(), 0.0);
  return {.mean = mean_ + mean, .sd = std::sqrt(variance_ * std::max(own - known, 1e-12))};
}

std::optional<std::size_t> next_point(const SearchSpace& space, const std::vector<Evaluated>& history,
                                      std::uint64_t seed) {
  std::vector<std::size_t> order(space.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(derive_seed(seed, "order of a space"));
  shuffle(order, random);
  if (history.empty()) {
    return order.front();
  }
  const SpaceModel model(space, history);
  std::optional<std::size_t> chosen;
  double most = 0;
  for (const std::size_t point : order) {
    if (std::ranges::find(history, point, &Evaluated::point) != history.end()) {
      continue;
    }
    const double improvement = expected_improvement(model.at(point), model.best());
    if (!chosen || improvement > most) {
      chosen = point;
      most = improvement;
    }
  }
  return chosen;
}

}  // namespace apo
