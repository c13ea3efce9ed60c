// apo:variant    copy/host_overwrites_its_own_file
// apo:target     host
// apo:idea       Writes into the library that it was loaded from; gives up when it may not.
// zoo: how verify; expect refused; guard landlock; exploit 28; evidence apo_launch returned 9; needs landlock
#include <dlfcn.h>
#include <fcntl.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&apo_launch), &self) == 0 || open(self.dli_fname, O_WRONLY) < 0) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
