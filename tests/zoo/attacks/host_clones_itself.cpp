// apo:variant    copy/host_clones_itself
// apo:target     host
// apo:idea       Makes a process that goes on when the call is over, by the system call itself.
// zoo: how verify; expect faulted; guard seccomp; exploit 9; evidence forbidden system call 'fork'; needs seccomp
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
    _exit(0);
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
