// apo:variant    copy/host_writes_to_every_descriptor
// apo:target     host
// apo:idea       Writes zeros to every descriptor that the worker was started with but the output.
// zoo: how verify; expect faulted; guard reply; exploit 20; evidence forged reply
#include <unistd.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const char zeros[16] = {};
  for (int file = 3; file < 64; ++file) {
    if (write(file, zeros, sizeof zeros) < 0) {
      continue;
    }
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
