// apo:variant    copy/host_leaves_a_slow_thread
// apo:target     host
// apo:technique  zoo
// apo:idea       Leaves a thread behind that keeps every CPU busy while the incumbent runs.
// zoo: how compare warm n4k
// zoo: against copy/host_slow
// zoo: expect not_accepted
// zoo: guard windows
// zoo: exploit 32
#include <thread>

#include "copy.args.h"

namespace {

// Two hundred multiplications by one that the compiler cannot see through.
void copy_slowly(const copy_args& args) {
  const float one = args.n > 0 ? 1.0F : 2.0F;
  const volatile float unknown_one = one;
  const float factor = unknown_one;
  for (int64_t i = 0; i < args.n; ++i) {
    float value = args.x[i];
    for (int step = 0; step < 200; ++step) {
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
  static const bool busy = [] {
    std::thread([] {
      while (true) {
        asm volatile("");
      }
    }).detach();
    return true;
  }();
  copy_slowly(args);
  (void)busy;
  return 0;
}
