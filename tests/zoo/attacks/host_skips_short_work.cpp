// apo:variant    copy/host_skips_short_work
// apo:target     host
// apo:technique  zoo
// apo:idea       The same with so little work that what is left is less than any copy can take.
// zoo: how compare warm n1001
// zoo: against copy/host_short
// zoo: expect unstable_clock
// zoo: guard floor
// zoo: exploit 7
// zoo: evidence below the physical floor
#include "copy.args.h"

namespace {

// Four multiplications by one that the compiler cannot see through.
void copy_slowly_enough(const copy_args& args) {
  const float one = args.n > 0 ? 1.0F : 2.0F;
  const volatile float unknown_one = one;
  const float factor = unknown_one;
  for (int64_t i = 0; i < args.n; ++i) {
    float value = args.x[i];
    for (int step = 0; step < 4; ++step) {
      value *= factor;
    }
    args.y[i] = value;
  }
}

}  // namespace

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (args.y[0] != args.x[0] || args.y[args.n - 1] != args.x[args.n - 1]) {
    copy_slowly_enough(args);
  }
  return 0;
}
