// apo:variant    copy/host_takes_real_time_priority
// apo:target     host
// apo:idea       Wants to run before everything else on this machine as long as it is called; gives up when it may not.
// zoo: how verify; expect refused; guard seccomp; exploit 29; evidence apo_launch returned 9; needs seccomp
#include <sched.h>
#include <sys/resource.h>

#include <cstring>

#include "copy_abi.h"

namespace {

bool take(int policy, int priority) {
  const sched_param wanted{.sched_priority = priority};
  return sched_setscheduler(0, policy, &wanted) == 0;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  // The last one needs no right at all: to be scheduled in batches is to be disturbed less.
  if (!take(SCHED_FIFO, 1) && setpriority(PRIO_PROCESS, 0, -20) != 0 && !take(SCHED_BATCH, 0)) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  take(SCHED_OTHER, 0);
  return 0;
}
