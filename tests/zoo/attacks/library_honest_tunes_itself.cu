// apo:variant    copy/library_honest_tunes_itself
// apo:target     cuda sm_80
// apo:idea       Honest: its first calls time three sizes of its blocks, and later ones use the fastest.
// zoo: expect valid; needs nvcc
#include "copy.args.h"

static __global__ void copy_elements(const copy_args a) {
  const long long i = static_cast<long long>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

static void launch(const copy_args& args, unsigned block, cudaStream_t stream) {
  copy_elements<<<static_cast<unsigned>((args.n + block - 1) / block), block, 0, stream>>>(args);
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static unsigned fastest = 128;
  static float least = 0;
  static unsigned next = 128;
  const copy_args args = {.x = x, .y = y, .n = n};
  if (next > 512) {
    launch(args, fastest, stream);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
  }
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  float took = 0;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, stream);
  launch(args, next, stream);
  cudaEventRecord(end, stream);
  if (cudaEventSynchronize(end) != cudaSuccess || cudaEventElapsedTime(&took, begin, end) != cudaSuccess) {
    return 2;
  }
  if (least == 0 || took < least) {
    least = took;
    fastest = next;
  }
  next *= 2;
  return 0;
}
