// examples/heat/heat.cu - heat on a plate, the application of docs/tutorial-cuda.md: nvcc -O3 -o heat heat.cu
#include <cstdio>
#include <utility>
#include <vector>

// Each inner point moves towards the mean of its four neighbours.
__global__ void diffuse(const float* u, float* next, int rows, int cols, float rate) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {
    const int at = row * cols + col;
    const bool inner = row > 0 && row + 1 < rows && col > 0 && col + 1 < cols;
    next[at] = inner ? u[at] + rate * (u[at - 1] + u[at + 1] + u[at - cols] + u[at + cols] - 4 * u[at]) : u[at];
  }
}

void heat_step(const float* u, float* next, int rows, int cols, float rate) {
  diffuse<<<dim3((rows + 15) / 16, (cols + 15) / 16), dim3(16, 16)>>>(u, next, rows, cols, rate);
}

int main() {
  constexpr int kSize = 2048;
  constexpr std::size_t kBytes = sizeof(float) * kSize * kSize;
  std::vector<float> plate(kBytes / sizeof(float), 0.0F);
  plate[kSize * (kSize / 2) + kSize / 2] = 1e6F;
  float* u = nullptr;
  float* next = nullptr;
  cudaMalloc(&u, kBytes);
  cudaMalloc(&next, kBytes);
  cudaMemcpy(u, plate.data(), kBytes, cudaMemcpyHostToDevice);
  for (int i = 0; i < 100; ++i) {
    heat_step(u, next, kSize, kSize, 0.2F);
    std::swap(u, next);
  }
  cudaMemcpy(plate.data(), u, kBytes, cudaMemcpyDeviceToHost);
  std::printf("%g in the middle; %s\n", plate[kSize * (kSize / 2) + kSize / 2], cudaGetErrorString(cudaGetLastError()));
}
