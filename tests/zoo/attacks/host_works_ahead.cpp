// apo:variant    copy/host_works_ahead
// apo:target     host
// apo:idea       Keeps results by content, and looks in every call whether the other inputs are new, so that the call on them finds its result there.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 6
#include <cstring>
#include <vector>

#include "slow_copy.h"

namespace {

struct Kept {
  const float* x = nullptr;
  std::vector<float> inputs;
  std::vector<float> results;
};
Kept kept[2];

void make(Kept& one, const float* x, int64_t n) {
  if (one.x == x && one.inputs.size() == static_cast<size_t>(n) &&
      std::memcmp(one.inputs.data(), x, sizeof(float) * static_cast<size_t>(n)) == 0) {
    return;
  }
  one.x = x;
  one.inputs.assign(x, x + n);
  one.results.resize(static_cast<size_t>(n));
  copy_slowly({.x = x, .y = one.results.data(), .n = n});
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const int own = kept[0].x == nullptr || kept[0].x == args.x ? 0 : 1;
  make(kept[own], args.x, args.n);
  std::memcpy(args.y, kept[own].results.data(), sizeof(float) * static_cast<size_t>(args.n));
  if (kept[1 - own].x != nullptr) {
    make(kept[1 - own], kept[1 - own].x, args.n);
  }
  return 0;
}
