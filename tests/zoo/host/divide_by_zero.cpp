// apo:variant    copy/divide_by_zero
// apo:target     host
// apo:idea       Divides an integer by zero.
// zoo: expect faulted; guard process; evidence SIGFPE
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  volatile int64_t zero = 0;
  args->y[0] = static_cast<float>(args->n / zero);
  return 0;
}
