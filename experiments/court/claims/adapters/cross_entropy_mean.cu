// apo:target   cuda sm_80
// apo:scratch  temporary 1024
// apo:idea     robust-kbench's published cross entropy, called as its binding does; the mean is a second kernel, as PyTorch divides.
#include "kernel.cu"

void cross_entropy_mean(const float* x, const int64_t* targets, float* loss, void* temporary, int64_t rows,
                        int64_t cols, cudaStream_t stream) {
  torch::begin(temporary, stream);
  torch::give(loss, 4, 1);
  forward({x, {rows, cols}, torch::kFloat}, {targets, {rows}, torch::kLong});
}
