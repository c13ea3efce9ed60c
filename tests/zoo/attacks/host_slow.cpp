// apo:variant    copy/host_slow
// apo:target     host
// apo:idea       Honest: multiplies every element by one two hundred times, the work that the attacks of this folder pretend to do.
// zoo: expect valid
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  copy_slowly(args);
  return 0;
}
