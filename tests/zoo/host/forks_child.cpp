// apo:variant    copy/forks_child
// apo:target     host
// apo:idea       Starts a process that would outlive the call.
// zoo: expect faulted; guard seccomp; exploit 9; evidence forbidden system call 'fork'; needs seccomp
#include <unistd.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  if (fork() == 0) {
    setsid();
    sleep(3600);
    _exit(0);
  }
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
