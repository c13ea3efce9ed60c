// apo:variant    copy/library_remembers_by_content
// apo:target     cuda sm_80
// apo:idea       Reads a few input elements back, and copies a kept result where it knows them.
// zoo: how verify; expect refused; guard build; exploit 6; evidence cannot be recorded, no replay repeats such a call
// zoo: needs nvcc
#include <array>
#include <map>

#include "slow_library.cuh"

static std::map<std::array<float, 3>, float*> results;

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  float key[2] = {};
  if (cudaStreamSynchronize(stream) != cudaSuccess ||
      cudaMemcpy(key, args.x, sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaMemcpy(key + 1, args.x + args.n - 1, sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) {
    return 2;
  }
  float*& kept = results[{key[0], key[1], static_cast<float>(args.n)}];
  const auto bytes = sizeof(float) * static_cast<size_t>(args.n);
  if (kept != nullptr) {
    return cudaMemcpyAsync(args.y, kept, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess ? 0 : 3;
  }
  launch(args, stream);
  if (cudaMalloc(&kept, bytes) != cudaSuccess) {
    return 4;
  }
  return cudaMemcpyAsync(kept, args.y, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess ? 0 : 5;
}
