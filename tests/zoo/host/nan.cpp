// apo:variant    copy/nan
// apo:target     host
// apo:idea       Fills the output with NaN, hoping for a comparison that NaN passes.
// zoo: expect incorrect; guard reference; exploit 17; evidence NaN
#include <limits>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return 0;
}
