// apo:variant    copy/host_right_where_it_is_round
// apo:target     host
// apo:idea       Copies whole groups of 256 only.
// zoo: how verify; expect incorrect; guard shapes; exploit 22; evidence n1001
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n / 256 * 256));
  return 0;
}
