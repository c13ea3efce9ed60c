// apo:variant    copy/closes_all_fds
// apo:target     host
// apo:idea       Closes every file descriptor of its process.
// zoo: expect faulted; guard process; evidence closed the worker's connection
#include <unistd.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  close_range(0, ~0u, 0);
  return 0;
}
