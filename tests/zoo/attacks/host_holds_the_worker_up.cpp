// apo:variant    copy/host_holds_the_worker_up
// apo:target     host
// apo:idea       Wants a filter whose listener holds up what the worker asks of the system, and works meanwhile; gives up when it may not.
// zoo: expect refused; guard seccomp; exploit 9; evidence apo_launch returned 9; needs seccomp
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "copy_abi.h"

namespace {

// Lets everything through: this one only wants to know whether it could.
bool take_filter() {
  sock_filter all[] = {{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ALLOW}};
  sock_fprog program{.len = 1, .filter = all};
  const bool listens = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) >= 0;
  return listens || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 || prctl(PR_SET_TSC, PR_TSC_ENABLE) == 0;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (!take_filter()) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
