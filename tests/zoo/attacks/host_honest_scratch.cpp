// apo:variant    copy/host_honest_scratch
// apo:target     host
// apo:idea       Honest: uses the scratch buffer that it has declared, written before it is read.
// apo:scratch    room 4*n
// zoo: expect valid
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  auto* room = static_cast<float*>(args.room);
  std::memcpy(room, args.x, sizeof(float) * static_cast<size_t>(args.n));
  std::memcpy(args.y, room, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
