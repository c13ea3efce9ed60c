// apo:variant    copy/host_drifts_when_it_is_old
// apo:target     host
// apo:idea       Right for forty calls, then it rounds to whole numbers.
// zoo: how compare warm n4k; against copy/host_slow; expect incorrect; guard timed-check; exploit 14
#include <cmath>

#include "copy_abi.h"

namespace {

int calls = 0;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  ++calls;
  for (int64_t i = 0; i < args.n; ++i) {
    args.y[i] = calls <= 40 ? args.x[i] : std::round(args.x[i]);
  }
  return 0;
}
