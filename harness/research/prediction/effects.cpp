// harness/research/prediction/effects.cpp - builds and solves the precision matrix.
#include "harness/research/prediction/effects.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace apo {

namespace {

// Deviation of a configuration from the common mean, in logs: it carries no information and makes the matrix definite.
constexpr double kUnrelated = 20;

std::vector<std::size_t> components(std::size_t nodes, const std::vector<StatedEffect>& statements) {
  std::vector<std::size_t> component(nodes);
  std::iota(component.begin(), component.end(), std::size_t{0});
  const auto root = [&](std::size_t node) {
    while (component[node] != node) {
      node = component[node] = component[component[node]];
    }
    return node;
  };
  for (const StatedEffect& one : statements) {
    const auto [small, large] = std::minmax({root(one.from), root(one.to)});
    component[large] = small;
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    component[node] = root(node);
  }
  return component;
}

}  // namespace

EffectNetwork::EffectNetwork(std::size_t nodes, std::vector<StatedEffect> statements)
    : nodes_(nodes), statements_(std::move(statements)), component_(components(nodes, statements_)) {
  std::vector<double> precisions(nodes * nodes);  // lower triangle
  std::vector<double> right(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    precisions[i * nodes + i] = 1 / (kUnrelated * kUnrelated);
  }
  for (StatedEffect& one : statements_) {
    one.sd = std::max(one.sd, kSharpest);
    const double precision = 1 / (one.sd * one.sd);
    precisions[one.from * nodes + one.from] += precision;
    precisions[one.to * nodes + one.to] += precision;
    precisions[std::max(one.from, one.to) * nodes + std::min(one.from, one.to)] -= precision;
    right[one.to] += precision * one.effect;
    right[one.from] -= precision * one.effect;
  }
  factor_ = CholeskyFactor(std::move(precisions), nodes);
  mean_ = factor_.solved(std::move(right));
}

Estimate EffectNetwork::difference(std::size_t from, std::size_t to) const {
  if (from == to) {
    return {};
  }
  std::vector<double> contrast(nodes_);
  contrast[from] = -1;
  contrast[to] = 1;
  const std::vector<double> response = factor_.solved(std::move(contrast));
  Estimate estimate{.connected = component_[from] == component_[to],
                    .effect = mean_[to] - mean_[from],
                    .sd = std::sqrt(response[to] - response[from])};
  std::vector<std::pair<double, std::int64_t>> weights;
  double all = 0;
  for (const StatedEffect& one : statements_) {
    const double weight = std::fabs(response[one.to] - response[one.from]) / (one.sd * one.sd);
    all += weight;
    estimate.share[static_cast<std::size_t>(one.basis)] += weight;
    weights.emplace_back(-weight, one.experiment);
  }
  for (double& share : estimate.share) {
    share = all > 0 ? share / all : 0;
  }
  std::ranges::sort(weights);
  for (const auto& [weight, experiment] : weights) {
    if (experiment != 0 && -weight > 0.1 * all) {
      estimate.experiments.push_back(experiment);
    }
  }
  return estimate;
}

CholeskyFactor::CholeskyFactor(std::vector<double> matrix, std::size_t size) : size_(size), factor_(std::move(matrix)) {
  for (std::size_t row = 0; row < size; ++row) {
    double* const current = factor_.data() + row * size;
    for (std::size_t column = 0; column <= row; ++column) {
      const double* const other = factor_.data() + column * size;
      const double rest = std::inner_product(other, other + column, current, 0.0);
      current[column] = row == column ? std::sqrt(current[row] - rest) : (current[column] - rest) / other[column];
    }
  }
}

void CholeskyFactor::solve_half(std::vector<double>& right) const {
  for (std::size_t i = 0; i < size_; ++i) {
    const double* const row = factor_.data() + i * size_;
    right[i] = (right[i] - std::inner_product(row, row + i, right.data(), 0.0)) / row[i];
  }
}

std::vector<double> CholeskyFactor::solved(std::vector<double> right) const {
  solve_half(right);
  for (std::size_t i = size_; i-- > 0;) {
    right[i] /= factor_[i * size_ + i];
    for (std::size_t k = 0; k < i; ++k) {
      right[k] -= factor_[i * size_ + k] * right[i];
    }
  }
  return right;
}

double CholeskyFactor::log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    sum += 2 * std::log(factor_[i * size_ + i]);
  }
  return sum;
}

}  // namespace apo
