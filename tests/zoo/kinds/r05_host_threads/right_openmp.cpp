// apo:variant  runs/right_openmp
// apo:target   host
// apo:idea     OpenMP shares the runs out.
#include <cstdint>

void runs(const float* x, float* y, int64_t n, int64_t runs) {
#pragma omp parallel for
  for (int64_t s = 0; s < runs; ++s) {
    y[s] = 0;
    for (int64_t i = (s * n + runs - 1) / runs; i < ((s + 1) * n + runs - 1) / runs; ++i)
      y[s] += x[i];
  }
}
