// apo:variant  sgemm/plain
#include <cstdint>
#include <vector>

void sgemm(const float* A, const float* B, float* C, float alpha, float beta, int64_t M, int64_t N, int64_t K) {
  std::vector<float> row(static_cast<std::size_t>(N));
  for (int64_t m = 0; m < M; ++m) {
    for (float& sum : row)
      sum = 0;
    for (int64_t k = 0; k < K; ++k)
      for (int64_t n = 0; n < N; ++n)
        row[static_cast<std::size_t>(n)] += A[m * K + k] * B[k * N + n];
    for (int64_t n = 0; n < N; ++n)
      C[m * N + n] = alpha * row[static_cast<std::size_t>(n)] + beta * C[m * N + n];
  }
}
