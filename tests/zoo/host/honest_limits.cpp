// apo:variant    copy/honest_limits
// apo:target     host
// apo:idea       Honest: asks how much memory and how many CPUs it has.
// zoo: expect valid
#include <sys/resource.h>
#include <unistd.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || sysconf(_SC_NPROCESSORS_ONLN) < 1) {
    return 1;
  }
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
