// apo:variant    copy/host_short
// apo:target     host
// apo:technique  zoo
// apo:idea       Honest: multiplies every element by one four times; its calls are so short that many make a sample.
//                 Asks for its first output early, as host_skips_short_work does: that alone is worth some percent.
// zoo: expect valid
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
  const volatile bool there = args.y[0] == args.x[0];
  static_cast<void>(there);
  copy_slowly_enough(args);
  return 0;
}
