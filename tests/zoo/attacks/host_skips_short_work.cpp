// apo:variant    copy/host_skips_short_work
// apo:target     host
// apo:idea       Skips the work where its first output stands there already, of so little work that any look is dear.
// zoo: how compare warm n1001; against copy/host_short; expect not_accepted; guard windows; exploit 7
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (args.y[0] != args.x[0]) {
    copy_slowly<4>(args);
  }
  return 0;
}
