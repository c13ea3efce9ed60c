// apo:variant    copy/honest_static_table
// apo:target     host
// apo:idea       Honest: computes a table of constants once and keeps it between calls.
// zoo: expect valid
#include <vector>

#include "copy_abi.h"

namespace {

std::vector<int64_t> backwards(int64_t count) {
  std::vector<int64_t> order;
  for (int64_t i = count; i-- > 0;) {
    order.push_back(i);
  }
  return order;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  static const std::vector<int64_t> order = backwards(64);
  for (int64_t i = 0; i < args->n; i += 64) {
    for (const int64_t j : order) {
      if (i + j < args->n) {
        args->y[i + j] = args->x[i + j];
      }
    }
  }
  return 0;
}
