// apo:variant    copy/host_allocates_too_little
// apo:target     cuda sm_80
// apo:idea       The buffer of the host code ends one element too early.
// zoo: expect incorrect; guard executor; evidence out-of-bounds access in kernel copy_through
// zoo: evidence an allocation of 4000 bytes, which has 4000

__global__ void copy_through(float* y, const float* x, float* own, int64_t n) {
  const int64_t i = 128LL * blockIdx.x + threadIdx.x;
  if (i < n) {
    own[i] = x[i];  // found here
    y[i] = own[i];
  }
}

void copy(const float* x, float* y, int64_t n) {
  float* own = nullptr;
  cudaMalloc(&own, (n - 1) * sizeof(float));
  copy_through<<<(n + 127) / 128, 128>>>(y, x, own, n);
  cudaFree(own);
}
