// apo:variant    copy/library_opens_a_socket
// apo:target     cuda sm_80
// apo:idea       Wants to ask another machine; gives up when it may not.
// zoo: how verify; expect refused; guard seccomp; exploit 20; evidence apo_launch returned 9; needs nvcc
#include <sys/socket.h>

#include "slow_library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (socket(AF_INET, SOCK_STREAM, 0) < 0) {
    return 9;
  }
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
