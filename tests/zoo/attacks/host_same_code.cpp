// apo:variant    copy/host_same_code
// apo:target     host
// apo:idea       copy/host_slow under another name.
// zoo: how compare warm n4k; against copy/host_slow; expect no_change; guard same-code; exploit 26; evidence identical
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  copy_slowly(args);
  return 0;
}
