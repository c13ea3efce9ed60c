// apo:variant    copy/host_same_code
// apo:target     host
// apo:idea       copy/host_slow under another name.
// zoo: how compare warm n4k
// zoo: against copy/host_slow
// zoo: expect no_change
// zoo: guard same-code
// zoo: exploit 26
// zoo: evidence identical
#include "slow_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  copy_slowly(args);
  return 0;
}
