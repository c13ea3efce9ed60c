// apo:variant    copy/host_honest_openmp
// apo:target     host
// apo:idea       Honest: shares its elements out among OpenMP threads.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include "copy.args.h"

void copy(const float* x, float* y, int64_t n) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}
