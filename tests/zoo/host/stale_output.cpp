// apo:variant    copy/stale_output
// apo:target     host
// apo:idea       Right on the first call; later ones leave whatever is in the output.
// zoo: expect incorrect; guard poison; exploit 1; evidence in call 1, NaN
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  static bool done = false;
  if (!done) {
    for (int64_t i = 0; i < args->n; ++i) {
      args->y[i] = args->x[i];
    }
    done = true;
  }
  return 0;
}
