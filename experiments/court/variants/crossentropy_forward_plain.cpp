// apo:variant  crossentropy_forward/plain
#include <cmath>
#include <cstdint>

void crossentropy_forward(const float* probs, const int32_t* targets, float* losses, int64_t B, int64_t T, int64_t V) {
  for (int64_t row = 0; row < B * T; ++row)
    losses[row] = -std::log(probs[row * V + targets[row]]);
}
