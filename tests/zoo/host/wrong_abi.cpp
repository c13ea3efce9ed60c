// apo:variant    copy/wrong_abi
// apo:target     host
// apo:idea       Was built for another version of the interface.
// zoo: expect wrong_abi; guard process; evidence apo_abi returns 7
#include "copy.args.h"

APO_EXPORT uint32_t apo_abi(void) {
  return 7;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
