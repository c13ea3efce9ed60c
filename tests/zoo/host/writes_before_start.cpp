// apo:variant    copy/writes_before_start
// apo:target     host
// apo:idea       Writes a correct output and one element in front of it.
// zoo: expect incorrect; guard guard-zones; exploit 30; evidence before the start of 'y'
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  args->y[-3] = 1;
  return 0;
}
