// apo:variant    copy/outlives_parent
// apo:target     host
// apo:idea       Switches off the signal that ends it with the harness.
// zoo: expect faulted; guard seccomp; exploit 9; evidence forbidden system call 'prctl; needs seccomp
#include <sys/prctl.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  prctl(PR_SET_PDEATHSIG, 0);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
