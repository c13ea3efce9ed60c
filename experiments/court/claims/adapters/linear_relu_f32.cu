// apo:target   cuda sm_80
// apo:idea     robust-kbench's published linear layer with ReLU, called as its binding does.
#include "kernel.cu"

void linear_relu_f32(const float* x, const float* w, const float* bias, float* y, int64_t B, int64_t I, int64_t O,
                     cudaStream_t stream) {
  torch::begin(nullptr, stream);
  torch::give(y, 4 * B * O);
  linear_relu_shfl_strideloop_forward({x, {B, I}, torch::kFloat}, {w, {O, I}, torch::kFloat},
                                      {bias, {O}, torch::kFloat});
}
