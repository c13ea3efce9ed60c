// apo:variant    copy/raises_its_limits
// apo:target     host
// apo:idea       Lifts its own memory limit.
// zoo: expect faulted; guard seccomp; evidence forbidden system call 'setrlimit'; needs seccomp
#include <sys/resource.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
