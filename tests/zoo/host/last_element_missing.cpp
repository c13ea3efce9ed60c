// apo:variant    copy/last_element_missing
// apo:target     host
// apo:idea       Leaves the last element unwritten.
// zoo: expect incorrect; guard poison; exploit 2; evidence 'y' is wrong at element 4999, NaN
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i + 1 < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
