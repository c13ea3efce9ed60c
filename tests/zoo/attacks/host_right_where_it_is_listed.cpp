// apo:variant    copy/host_right_where_it_is_listed
// apo:target     host
// apo:idea       Right for the sizes of the family's workloads, and one element short for all others.
// zoo: expect incorrect; guard shapes; exploit 22
#include <cstring>

#include "copy_abi.h"

namespace {

bool is_listed(int64_t n) {
  return n == 1001 || n == 4096 || n == int64_t{1} << 20 || n == int64_t{64} << 20;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const int64_t count = is_listed(args.n) ? args.n : args.n - 1;
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(count));
  return 0;
}
