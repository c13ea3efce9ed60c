// harness/research/prediction/cholesky.h - Cholesky's factor of a symmetric positive definite matrix.
#pragma once

#include <cstddef>
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

}  // namespace apo
