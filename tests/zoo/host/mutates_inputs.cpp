// apo:variant    copy/mutates_inputs
// apo:target     host
// apo:idea       Changes its input, so that a reference computed from it would agree.
// zoo: expect incorrect; guard inputs; exploit 4; evidence changed its input 'x (set 0)' at element 17
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const_cast<float*>(args->x)[17] = 0;
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
