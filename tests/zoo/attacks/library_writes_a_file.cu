// apo:variant    copy/library_writes_a_file
// apo:target     cuda sm_80
// apo:idea       Tries to leave a file behind; gives up when it may not.
// zoo: how verify; expect refused; guard landlock; exploit 28; evidence apo_launch returned 9; needs nvcc
#include <fcntl.h>

#include "slow_library.cuh"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto stream = static_cast<cudaStream_t>(call->stream);
  if (open("left_behind", O_WRONLY | O_CREAT, 0600) < 0) {
    return 9;
  }
  launch(args, stream);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
