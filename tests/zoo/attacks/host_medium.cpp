// apo:variant    copy/host_medium
// apo:target     host
// apo:idea       Honest: multiplies every element by one twenty times; some of its calls make a sample.
// zoo: expect valid
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  copy_slowly<20>(args);
  return 0;
}
