// apo:variant    copy/host_traces_its_parent
// apo:target     host
// apo:idea       Attaches to the harness as a debugger does.
// zoo: how verify; expect faulted; guard seccomp; exploit 10; evidence forbidden system call 'ptrace'; needs seccomp
#include <sys/ptrace.h>
#include <unistd.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
