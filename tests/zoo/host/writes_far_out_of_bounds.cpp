// apo:variant    copy/writes_far_out_of_bounds
// apo:target     host
// apo:idea       Writes 32 MiB past the end of its output.
// zoo: expect faulted; guard process; evidence SIGSEGV, past the end of the tensors' memory
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  args->y[args->n + (int64_t{8} << 20)] = 1;
  return 0;
}
