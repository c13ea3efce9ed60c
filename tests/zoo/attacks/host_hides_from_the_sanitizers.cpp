// apo:variant    copy/host_hides_from_the_sanitizers
// apo:target     host
// apo:idea       Reads sixteen elements past the end of its input, in a function that asks the sanitizers not to be watched.
// zoo: expect faulted; guard fences; exploit 30; evidence SIGSEGV
#include <cstring>

#include "copy_abi.h"

namespace {

__attribute__((no_sanitize("address"), noinline)) float past(const float* x, int64_t n) {
  float sum = 0;
  for (int64_t i = n; i < n + 16; ++i) {
    sum += x[i];
  }
  return sum;
}

volatile float sink;

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  sink = past(args.x, args.n);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
