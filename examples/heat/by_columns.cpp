// apo:variant  heat_step/by_columns
// apo:target   host
// apo:idea     Walks down the columns, as the kernel of heat.cu does.
#include <cstdint>

void heat_step(const float* u, float* next, float rate, int64_t rows, int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = r * cols + c;
      const bool inner = r > 0 && r + 1 < rows && c > 0 && c + 1 < cols;
      next[at] = inner ? u[at] + rate * (u[at - 1] + u[at + 1] + u[at - cols] + u[at + cols] - 4 * u[at]) : u[at];
    }
  }
}
