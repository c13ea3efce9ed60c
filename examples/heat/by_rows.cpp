// apo:variant  heat_step/by_rows
// apo:target   host
// apo:parent   heat_step/by_columns
// apo:idea     Walks along the rows, so that neighbouring iterations read neighbouring memory.
// apo:predict  2x..10x over parent: a cache line serves 16 points in place of one.
#include <cstdint>

void heat_step(const float* u, float* next, float rate, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const int64_t at = r * cols + c;
      const bool inner = r > 0 && r + 1 < rows && c > 0 && c + 1 < cols;
      next[at] = inner ? u[at] + rate * (u[at - 1] + u[at + 1] + u[at - cols] + u[at + cols] - 4 * u[at]) : u[at];
    }
  }
}
