// apo:variant    copy/host_clamps
// apo:target     host
// apo:idea       Leaves out what typical inputs never are: values beyond 20.
// zoo: how verify; expect incorrect; guard regimes; exploit 16; evidence (wide)
#include <cmath>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args.n; ++i) {
    args.y[i] = std::fmin(std::fmax(args.x[i], -20.0F), 20.0F);
  }
  return 0;
}
