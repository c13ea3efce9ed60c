// apo:variant    copy/library_computes_on_the_host
// apo:target     cuda sm_80
// apo:idea       Copies the input to the host, works there beside the clock of the GPU, and copies the result back.
// zoo: how verify; expect refused; guard build; exploit 9; evidence cannot be recorded, no replay repeats such a call
// zoo: needs nvcc
#include <vector>

#include "copy.args.h"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  std::vector<float> host(static_cast<size_t>(n));
  const size_t bytes = sizeof(float) * host.size();
  return cudaMemcpyAsync(host.data(), x, bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
                 cudaStreamSynchronize(stream) == cudaSuccess &&
                 cudaMemcpyAsync(y, host.data(), bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess
             ? 0
             : 1;
}
