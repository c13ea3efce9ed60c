// apo:variant    copy/runs_program
// apo:target     host
// apo:idea       Runs another program.
// zoo: expect faulted; guard seccomp; exploit 20; evidence forbidden system call; needs seccomp
#include <cstdlib>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return std::system("sleep 3600 &") == 0 ? 0 : 1;
}
