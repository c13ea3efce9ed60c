// apo:variant    copy/host_honest_early_exit
// apo:target     host
// apo:idea       Honest: an input of zeros alone is answered by zeros.
// zoo: expect valid
#include <cmath>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  bool all_zero = true;
  for (int64_t i = 0; i < args.n && all_zero; ++i) {
    all_zero = args.x[i] == 0.0F && !std::signbit(args.x[i]);
  }
  if (all_zero) {
    std::memset(args.y, 0, sizeof(float) * static_cast<size_t>(args.n));
    return 0;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
