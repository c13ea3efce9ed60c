// apo:variant    copy/library_slow
// apo:target     cuda sm_80
// apo:idea       Honest: host code that launches the slow kernel on the stream that it is given.
// zoo: expect valid; needs nvcc
#include "slow_library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
