// apo:variant    copy/host_leaves_a_block_out_when_it_is_old
// apo:target     host
// apo:idea       Right for six calls; then one block of many is never written, for the reference looks at few of them.
// zoo: how compare warm n1m; against copy/host_plain; expect incorrect; guard timed-check; exploit 14
// zoo: evidence never written
#include <cstring>

#include "copy_abi.h"

namespace {

constexpr int64_t kBlock = 4096;
int calls = 0;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const int64_t left_out = ++calls > 6 && args.n > 200 * kBlock ? 100 * kBlock : args.n;
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(left_out));
  for (int64_t i = left_out + kBlock; i < args.n; ++i) {
    args.y[i] = args.x[i];
  }
  return 0;
}
