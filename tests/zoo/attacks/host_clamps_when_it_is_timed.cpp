// apo:variant    copy/host_clamps_when_it_is_timed
// apo:target     host
// apo:idea       Clamps to what timed inputs hold, once it has been called more often than it is when only its results count.
// zoo: how compare warm n4k; against copy/host_slow; expect incorrect; guard regimes; exploit 12
// zoo: evidence behind the timed ones
#include <algorithm>

#include "slow_copy.h"

namespace {

int calls = 0;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (++calls <= 40) {
    copy_slowly(args);
    return 0;
  }
  for (int64_t i = 0; i < args.n; ++i) {
    args.y[i] = std::clamp(args.x[i], -100.0F, 100.0F);
  }
  return 0;
}
