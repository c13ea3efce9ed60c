// apo:variant    copy/host_plain
// apo:target     host
// apo:idea       Honest: one memcpy.
// zoo: expect valid
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
