// apo:variant    copy/host_works_ahead
// apo:target     host
// apo:idea       Keeps results by content, and looks in every call whether the other inputs are new, so that the call on them finds its result there.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 6; evidence interval
#include "kept_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  kept_copy(args);
  make_new_results();
  return 0;
}
