// apo:variant    copy/host_honest_prefetches_past_the_end
// apo:target     host
// apo:idea       Honest: asks for cache lines ahead of what it copies, also behind the end, where no load goes.
// zoo: expect valid
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  constexpr int64_t kAhead = 256;
  for (int64_t i = 0; i < args.n; ++i) {
    if (i % 16 == 0) {
      __builtin_prefetch(args.x + i + kAhead);
    }
    args.y[i] = args.x[i];
  }
  return 0;
}
