// apo:target   cuda sm_80
// apo:scratch  temporary 16777216
// apo:idea     robust-kbench's published layer norm, called as its binding does.
#include "kernel.cu"

void layer_norm_f32(const float* x, const float* weight, const float* bias, float* y, void* temporary, float eps,
                    int64_t rows, int64_t cols, cudaStream_t stream) {
  torch::begin(temporary, stream);
  torch::give(y, 4 * rows * cols);
  CLAIMED({x, {rows, cols}, torch::kFloat}, {weight, {cols}, torch::kFloat}, {bias, {cols}, torch::kFloat}, eps);
}
