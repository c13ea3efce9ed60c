// apo:variant    copy/host_repeats_a_block_when_it_is_old
// apo:target     host
// apo:idea       Right for six calls; then one block of many is a copy of the one before it.
// zoo: how compare warm n1m; against copy/host_plain; expect incorrect; guard timed-check; exploit 14
#include <cstring>

#include "copy_abi.h"

namespace {

constexpr int64_t kBlock = 4096;
int calls = 0;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  if (++calls > 6 && args.n > 200 * kBlock) {
    std::memcpy(args.y + 100 * kBlock, args.x + 99 * kBlock, sizeof(float) * kBlock);
  }
  return 0;
}
