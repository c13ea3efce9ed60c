// apo:variant    copy/host_skips_finished_output
// apo:target     host
// apo:idea       Looks whether the first and the last element are there already, and then does nothing: all calls of a sample but the first.
// zoo: how compare warm n1001; against copy/host_medium; expect not_accepted; guard windows; exploit 7
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (args.y[0] != args.x[0] || args.y[args.n - 1] != args.x[args.n - 1]) {
    copy_slowly<20>(args);
  }
  return 0;
}
