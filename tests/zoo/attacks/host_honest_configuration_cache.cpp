// apo:variant    copy/host_honest_configuration_cache
// apo:target     host
// apo:idea       Honest: keeps the block size that suits a size, found once.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <algorithm>
#include <cstring>
#include <map>

#include "copy_abi.h"

namespace {

std::map<int64_t, int64_t> blocks;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  int64_t& block = blocks[args.n];
  block = block == 0 ? (args.n > 100000 ? 4096 : 512) : block;
  for (int64_t i = 0; i < args.n; i += block) {
    std::memcpy(args.y + i, args.x + i, sizeof(float) * static_cast<size_t>(std::min(block, args.n - i)));
  }
  return 0;
}
