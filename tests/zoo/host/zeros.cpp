// apo:variant    copy/zeros
// apo:target     host
// apo:idea       Writes zeros whatever the input is.
// zoo: expect incorrect; guard reference; exploit 3; evidence 'y' is wrong at element 0
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = 0;
  }
  return 0;
}
