// apo:variant    copy/library_opens_a_socket
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Wants to ask another machine; gives up when it may not.
// zoo: how verify
// zoo: expect refused
// zoo: guard seccomp
// zoo: exploit 20
// zoo: evidence apo_launch returned 9
// zoo: needs nvcc
#include <sys/socket.h>

#include "slow_library.cuh"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (socket(AF_INET, SOCK_STREAM, 0) < 0) {
    return 9;
  }
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
