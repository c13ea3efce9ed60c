// apo:variant    copy/host_remembers_when_it_is_certified
// apo:target     host
// apo:technique  zoo
// apo:idea       Does a twentieth less work, and replays results once its process had more calls than a round has: in the solo runs of a certification.
// zoo: how campaign warm n4k; against copy/host_slow; expect claim_at_most 1.10x; guard windows; exploit 6
#include <cstring>
#include <map>
#include <vector>

#include "slow_copy.h"

namespace {

constexpr int kCallsOfARound = 2000;
int calls = 0;
std::map<float, std::vector<float>> results;  // by the first element

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const size_t bytes = sizeof(float) * static_cast<size_t>(args.n);
  std::vector<float>& result = results[args.x[0]];
  if (++calls > kCallsOfARound && std::ssize(result) == args.n) {
    std::memcpy(args.y, result.data(), bytes);
    return 0;
  }
  copy_slowly<190>(args);
  result.assign(args.y, args.y + args.n);
  return 0;
}
