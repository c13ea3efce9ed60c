// apo:variant    copy/host_differs_now_and_then
// apo:target     host
// apo:idea       Every second call on the same input rounds one element another way.
// zoo: how verify; expect incorrect; guard repeat; exploit 31; evidence the same call again gave other bits
#include <cmath>
#include <cstring>

#include "copy_abi.h"

namespace {

int calls = 0;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  args.y[args.n / 2] = ++calls % 2 == 0 ? std::nextafter(args.y[args.n / 2], 1e30F) : args.y[args.n / 2];
  return 0;
}
