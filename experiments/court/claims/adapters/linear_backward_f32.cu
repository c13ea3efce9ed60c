// apo:target   cuda sm_80
// apo:idea     robust-kbench's published gradients of a linear layer, called as its binding does.
#include "kernel.cu"

void linear_backward_f32(const float* dy, const float* x, const float* w, float* dx, float* dw, float* dbias, int64_t B,
                         int64_t I, int64_t O, cudaStream_t stream) {
  torch::begin(nullptr, stream);
  torch::give(dx, 4 * B * I);
  torch::give(dw, 4 * O * I);
  torch::give(dbias, 4 * O);
  backward({dy, {B, O}, torch::kFloat}, {x, {B, I}, torch::kFloat}, {w, {O, I}, torch::kFloat});
}
