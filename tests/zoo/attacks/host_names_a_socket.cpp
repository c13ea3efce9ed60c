// apo:variant    copy/host_names_a_socket
// apo:target     host
// apo:idea       Wants to be found by the other arm, under a name that is in no file; gives up when it may not.
// zoo: how verify; expect refused; guard seccomp; exploit 34; evidence apo_launch returned 9, socketpair; needs seccomp
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool found = [] {
    int ends[2] = {};
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = "\0apo-note"};
    return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 &&
           bind(ends[0], reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  }();
  if (!found) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
