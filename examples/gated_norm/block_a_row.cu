// apo:variant  gated_norm/block_a_row
// apo:target   cuda
// apo:idea     A block owns a row and goes over it twice.
__global__ void rows(const float* x, const float* gate, const float* weight, float* y, long long features) {
  __shared__ float of_warp[8];
  const long long begin = blockIdx.x * features;
  float sum = 0;
  for (long long f = threadIdx.x; f < features; f += 256) {
    const float one = x[begin + f] / (1 + expf(-gate[begin + f]));
    y[begin + f] = one;
    sum += one * one;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    sum += __shfl_xor_sync(~0U, sum, lanes);
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  sum = 0;
  for (int warp = 0; warp < 8; ++warp) {
    sum += of_warp[warp];
  }
  const float scale = rsqrtf(sum / features + 1e-5F);
  for (long long f = threadIdx.x; f < features; f += 256) {
    y[begin + f] *= scale * weight[f];
  }
}

void gated_norm(const float* x, const float* gate, const float* weight, float* y, long long tokens, long long features,
                cudaStream_t stream) {
  rows<<<static_cast<unsigned>(tokens), 256, 0, stream>>>(x, gate, weight, y, features);
}
