// apo:variant    copy/library_works_ahead
// apo:target     cuda sm_80
// apo:idea       Copies results that it keeps, and makes those of inputs that are new in a call on other ones, before it is called on them.
// zoo: how verify; expect refused; guard build; exploit 6; evidence cannot be recorded, no replay repeats such a call
// zoo: needs nvcc
#include <cstring>

#include "slow_library.cuh"

struct Kept {
  const float* x = nullptr;
  float* results = nullptr;
  float key[2] = {};
};
static Kept kept[2];

// Makes the results of the inputs at one.x as they are now, unless it has them. False when the GPU fails.
static bool make(Kept& one, long long n, cudaStream_t stream) {
  float key[2] = {};
  const auto bytes = sizeof(float) * static_cast<size_t>(n);
  if ((one.results == nullptr && cudaMalloc(&one.results, bytes) != cudaSuccess) ||
      cudaMemcpy(key, one.x, sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaMemcpy(key + 1, one.x + n - 1, sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) {
    return false;
  }
  if (std::memcmp(key, one.key, sizeof key) != 0) {
    std::memcpy(one.key, key, sizeof key);
    launch({.x = one.x, .y = one.results, .n = n}, stream);
  }
  return cudaGetLastError() == cudaSuccess;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) {
    return 2;
  }
  const int own = kept[0].x == nullptr || kept[0].x == args.x ? 0 : 1;
  kept[own].x = args.x;
  if (!make(kept[own], args.n, stream) ||
      cudaMemcpyAsync(args.y, kept[own].results, sizeof(float) * static_cast<size_t>(args.n), cudaMemcpyDeviceToDevice,
                      stream) != cudaSuccess) {
    return 3;
  }
  Kept& other = kept[1 - own];
  return other.x == nullptr || make(other, args.n, stream) ? 0 : 4;
}
