// apo:variant    copy/writes_out_of_bounds
// apo:target     host
// apo:idea       Writes a correct output and, a little past its end, one element too many.
// zoo: expect incorrect; guard guard-zones; exploit 30; evidence 8 bytes past the end of 'y'
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  args->y[args->n + 2] = 1;
  return 0;
}
