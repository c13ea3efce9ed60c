// apo:variant  ramped/bug
// apo:target   host
// apo:idea     A table is made where the one that is there is too short, whatever the columns that it was made for.
#include <cstdint>
#include <vector>

static std::vector<float> table;
static int64_t of_cols = 0;

void ramped(const float* x, float* y, int64_t rows, int64_t cols) {
  if (of_cols < cols) {
    table.resize(static_cast<std::size_t>(cols));
    for (int64_t c = 0; c < cols; ++c)
      table[static_cast<std::size_t>(c)] = static_cast<float>(c + 1) / static_cast<float>(cols);
    of_cols = cols;
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = x[r * cols + c] * table[static_cast<std::size_t>(c)];
}
