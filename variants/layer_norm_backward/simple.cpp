// apo:variant    layer_norm_backward/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       One row after the other; sums of the columns in arrays.
#include <cstdint>
#include <vector>

#include "bf16.h"

void layer_norm_backward(const uint16_t* dy, const uint16_t* x, const uint16_t* weight, const float* mean,
                         const float* rstd, uint16_t* dx, uint16_t* dweight, uint16_t* dbias, int64_t rows,
                         int64_t cols) {
  std::vector<float> of_weight(static_cast<size_t>(cols)), of_bias(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r, dy += cols, x += cols, dx += cols) {
    const auto normalised = [&](int64_t c) { return (load(x[c]) - mean[r]) * rstd[r]; };
    float level = 0, slope = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float scaled = load(dy[c]) * load(weight[c]);
      level += scaled;
      slope += scaled * normalised(c);
      of_weight[static_cast<size_t>(c)] += load(dy[c]) * normalised(c);
      of_bias[static_cast<size_t>(c)] += load(dy[c]);
    }
    level /= static_cast<float>(cols);
    slope /= static_cast<float>(cols);
    for (int64_t c = 0; c < cols; ++c) {
      dx[c] = store(rstd[r] * (load(dy[c]) * load(weight[c]) - level - normalised(c) * slope));
    }
  }
  for (int64_t c = 0; c < cols; ++c) {
    dweight[c] = store(of_weight[static_cast<size_t>(c)]);
    dbias[c] = store(of_bias[static_cast<size_t>(c)]);
  }
}
