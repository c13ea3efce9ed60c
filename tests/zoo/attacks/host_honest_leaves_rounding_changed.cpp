// apo:variant    copy/host_honest_leaves_rounding_changed
// apo:target     host
// apo:idea       Honest: forgets to put the rounding mode back, which the worker does.
// zoo: expect valid
#include <cfenv>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::fesetround(FE_UPWARD);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
