// apo:variant    copy/library_honest_own_stream
// apo:target     cuda sm_80
// apo:idea       Honest: works on a stream of its own, and makes the given one wait for it.
// zoo: expect valid; needs nvcc
#include "slow_library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  static cudaStream_t own = nullptr;
  static cudaEvent_t before = nullptr;
  static cudaEvent_t after = nullptr;
  if (own == nullptr && (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
                         cudaEventCreateWithFlags(&before, cudaEventDisableTiming) != cudaSuccess ||
                         cudaEventCreateWithFlags(&after, cudaEventDisableTiming) != cudaSuccess)) {
    return 2;
  }
  cudaEventRecord(before, stream);
  cudaStreamWaitEvent(own, before, 0);
  launch(args, own);
  cudaEventRecord(after, own);
  cudaStreamWaitEvent(stream, after, 0);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
