// apo:variant    axpy/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       One element after the other, as anyone would write it first.
#include "axpy.args.h"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& a = *static_cast<const axpy_args*>(call->arguments);
  for (int64_t i = 0; i < a.n; ++i) {
    a.z[i] = 2.5f * a.x[i] + a.y[i];
  }
  return 0;
}
