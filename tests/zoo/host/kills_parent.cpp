// apo:variant    copy/kills_parent
// apo:target     host
// apo:idea       Sends SIGKILL to the harness.
// zoo: expect faulted; guard seccomp; exploit 10; evidence forbidden system call 'kill'; needs seccomp
#include <unistd.h>

#include <csignal>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  kill(getppid(), SIGKILL);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
