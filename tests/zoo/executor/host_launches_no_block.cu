// apo:variant    copy/host_launches_no_block
// apo:target     cuda sm_80
// apo:idea       The grid is rounded down: too few numbers make none.
// zoo: expect refused; guard executor; evidence no GPU takes the launch of copied: grid (0,1,1), block (1024,1,1)
#include <cstdint>

__global__ void copied(const float* x, float* y) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  y[i] = x[i];
}

void copy(const float* x, float* y, int64_t n) {
  copied<<<n / 1024, 1024>>>(x, y);
}
