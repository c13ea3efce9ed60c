// apo:variant    copy/caches_by_pointer
// apo:target     host
// apo:idea       Replays its old result when it sees an input address again.
// zoo: expect incorrect; guard reference; exploit 5; evidence in call 2
#include <algorithm>
#include <map>
#include <vector>

#include "copy_abi.h"

namespace {

std::map<const float*, std::vector<float>> results;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::vector<float>& result = results[args->x];
  if (result.empty()) {
    result.assign(args->x, args->x + args->n);
  }
  std::copy(result.begin(), result.end(), args->y);
  return 0;
}
