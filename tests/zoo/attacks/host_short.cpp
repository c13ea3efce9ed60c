// apo:variant    copy/host_short
// apo:target     host
// apo:idea       Honest: multiplies every element by one four times; its calls are so short that many make a sample.
//                 Asks for its first output early, as host_skips_short_work does: that alone is worth some percent.
// zoo: expect valid
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const volatile bool there = args.y[0] == args.x[0];
  static_cast<void>(there);
  copy_slowly<4>(args);
  return 0;
}
