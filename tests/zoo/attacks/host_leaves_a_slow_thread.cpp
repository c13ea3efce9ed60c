// apo:variant    copy/host_leaves_a_slow_thread
// apo:target     host
// apo:idea       Leaves a thread behind that keeps every CPU busy while the incumbent runs.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32
#include <thread>

#include "slow_copy.h"

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
