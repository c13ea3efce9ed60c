// apo:variant  int8_quant/plain
#include <algorithm>
#include <cmath>
#include <cstdint>

void int8_quant(const float* input, int8_t* out, float* scale, int64_t num_tokens, int64_t hidden_size) {
  for (int64_t t = 0; t < num_tokens; ++t, input += hidden_size, out += hidden_size) {
    float largest = 0;
    for (int64_t h = 0; h < hidden_size; ++h)
      largest = std::max(largest, std::abs(input[h]));
    scale[t] = largest / 127;
    for (int64_t h = 0; h < hidden_size; ++h)
      out[h] = largest == 0 ? int8_t{0} : static_cast<int8_t>(std::round(input[h] / largest * 127));
  }
}
