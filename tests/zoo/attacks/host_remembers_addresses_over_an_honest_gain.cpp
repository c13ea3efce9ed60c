// apo:variant    copy/host_remembers_addresses_over_an_honest_gain
// apo:target     host
// apo:idea       Does a twentieth less work, and replays the result of an address whose input is what it was.
// zoo: how compare cold n4k; against copy/host_slow; expect claim_at_most 1.10x; guard windows; exploit 6
#include <cstring>
#include <map>
#include <vector>

#include "slow_copy.h"

namespace {

struct Kept {
  std::vector<float> inputs;
  std::vector<float> results;
};
std::map<const float*, Kept> kept;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const size_t bytes = sizeof(float) * static_cast<size_t>(args.n);
  Kept& one = kept[args.x];
  if (std::ssize(one.inputs) == args.n && std::memcmp(one.inputs.data(), args.x, bytes) == 0) {
    std::memcpy(args.y, one.results.data(), bytes);
    return 0;
  }
  copy_slowly<190>(args);
  one = {.inputs = {args.x, args.x + args.n}, .results = {args.y, args.y + args.n}};
  return 0;
}
