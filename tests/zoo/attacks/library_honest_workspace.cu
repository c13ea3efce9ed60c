// apo:variant    copy/library_honest_workspace
// apo:target     cuda sm_80
// apo:idea       Honest: keeps a workspace on the GPU between calls, and fills it before it reads it.
// zoo: expect valid; needs nvcc
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  static float* workspace = nullptr;
  static size_t room = 0;
  const auto bytes = sizeof(float) * static_cast<size_t>(args.n);
  if (room < bytes) {
    cudaFree(workspace);
    room = cudaMalloc(&workspace, bytes) == cudaSuccess ? bytes : 0;
  }
  if (room < bytes || cudaMemcpyAsync(workspace, args.x, bytes, cudaMemcpyDeviceToDevice, stream) != cudaSuccess) {
    return 2;
  }
  return cudaMemcpyAsync(args.y, workspace, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess ? 0 : 3;
}
