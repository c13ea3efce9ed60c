// apo:variant    copy/host_remembers_by_content
// apo:target     host
// apo:idea       Keeps its results under a fingerprint of the input and replays one when that comes again.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 6
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "slow_copy.h"

namespace {

std::map<std::array<float, 3>, std::vector<float>> results;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::vector<float>& result = results[{args.x[0], args.x[args.n / 2], args.x[args.n - 1]}];
  if (std::ssize(result) != args.n) {
    copy_slowly(args);
    result.assign(args.y, args.y + args.n);
  }
  std::memcpy(args.y, result.data(), sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
