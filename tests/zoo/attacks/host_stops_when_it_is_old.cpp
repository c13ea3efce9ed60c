// apo:variant    copy/host_stops_when_it_is_old
// apo:target     host
// apo:idea       Right for forty calls, which is longer than anybody validates; then it replays what it did for the same pointers.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 5
#include <cstring>
#include <map>
#include <vector>

#include "slow_copy.h"

namespace {

int calls = 0;
std::map<const float*, std::vector<float>> results;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::vector<float>& result = results[args.x];
  if (++calls <= 40 || std::ssize(result) != args.n) {
    copy_slowly(args);
    result.assign(args.y, args.y + args.n);
  }
  std::memcpy(args.y, result.data(), sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
