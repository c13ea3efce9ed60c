// apo:variant    copy/host_patches_the_clock
// apo:target     host
// apo:idea       Writes a jump into the code of the system clock, to one that runs at half speed.
// zoo: how compare warm n4k; against copy/host_slow; expect faulted; guard code; exploit 10
// zoo: evidence code or constants of libc; needs x86_64
#include <sys/syscall.h>

#include "pages.h"

namespace {

int slow_clock(clockid_t clock, timespec* time) {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  halve(clock, time);
  return result;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool done = write_jump(reinterpret_cast<void*>(&clock_gettime), reinterpret_cast<void*>(&slow_clock));
  copy_slowly(args);
  return done ? 0 : 1;
}
