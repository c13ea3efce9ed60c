// harness/research/prediction/cholesky.cpp - row by row.
#include "harness/research/prediction/cholesky.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace apo {

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
