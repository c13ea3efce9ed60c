// apo:variant    copy/library_plain
// apo:target     cuda sm_80
// apo:idea       Honest: one kernel from host code, for others to be held against.
// zoo: expect valid; needs nvcc
#include "library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
