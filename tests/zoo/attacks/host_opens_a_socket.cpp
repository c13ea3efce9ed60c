// apo:variant    copy/host_opens_a_socket
// apo:target     host
// apo:idea       Wants to ask another machine; gives up when it may not.
// zoo: how verify; expect refused; guard seccomp; exploit 20; evidence apo_launch returned 9; needs seccomp
#include <sys/socket.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (socket(AF_INET, SOCK_STREAM, 0) < 0) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
