// apo:variant    copy/host_honest_repeats_equal_blocks
// apo:target     host
// apo:idea       Honest: a block that equals the one before it is copied from its output, and every block is written twice.
// zoo: expect valid
#include <algorithm>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  constexpr int64_t kBlock = 64;
  std::fill(args.y, args.y + args.n, 0.0F);
  for (int64_t begin = 0; begin < args.n; begin += kBlock) {
    const auto bytes = sizeof(float) * static_cast<size_t>(std::min(kBlock, args.n - begin));
    const bool equal =
        begin > 0 && begin + kBlock <= args.n && std::memcmp(args.x + begin, args.x + begin - kBlock, bytes) == 0;
    std::memcpy(args.y + begin, equal ? args.y + begin - kBlock : args.x + begin, bytes);
  }
  return 0;
}
