// apo:variant    copy/library_works_on_its_own_stream
// apo:target     cuda sm_80
// apo:idea       Launches on a stream of its own and does not wait: the work runs beside what is not timed.
// zoo: how verify; expect refused; guard build; exploit 8; evidence cannot be recorded, does not wait for the caller's
// zoo: needs nvcc
#include "slow_library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static cudaStream_t own = nullptr;
  if (own == nullptr && cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) {
    return 2;
  }
  launch(args, own);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
