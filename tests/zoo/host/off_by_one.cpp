// apo:variant    copy/off_by_one
// apo:target     host
// apo:idea       Shifts everything by one element.
// zoo: expect incorrect; guard reference; evidence 'y' is wrong at element 0
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i + 1 < args->n ? i + 1 : 0];
  }
  return 0;
}
