// apo:variant    copy/host_honest_in_place
// apo:target     host
// apo:idea       Honest: writes a first version into its output and improves it there.
// zoo: expect valid
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args.n; ++i) {
    args.y[i] = -args.x[i];
  }
  for (int64_t i = 0; i < args.n; ++i) {
    args.y[i] = -args.y[i];
  }
  return 0;
}
