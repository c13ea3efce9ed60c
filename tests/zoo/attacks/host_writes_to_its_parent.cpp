// apo:variant    copy/host_writes_to_its_parent
// apo:target     host
// apo:idea       Writes into the memory of the harness.
// zoo: how verify; expect faulted; guard seccomp; exploit 20; evidence forbidden system call 'process_vm_writev'
// zoo: needs seccomp
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  char byte = 0;
  const iovec mine{&byte, 1};
  const iovec theirs{reinterpret_cast<void*>(0x10000), 1};
  process_vm_writev(getppid(), &mine, 1, &theirs, 1, 0);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
