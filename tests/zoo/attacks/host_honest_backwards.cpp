// apo:variant    copy/host_honest_backwards
// apo:target     host
// apo:idea       Honest: goes through the tensors from the end to the start.
// zoo: expect valid
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  for (int64_t i = args.n; i-- > 0;) {
    args.y[i] = args.x[i];
  }
  return 0;
}
