// apo:variant    copy/stack_overflow
// apo:target     host
// apo:idea       Recurses without end.
// zoo: expect faulted; guard process; evidence SIGSEGV, stack overflow
#include "copy_abi.h"

namespace {

int descend(const float* x, int64_t n) {
  volatile char frame[4096];
  frame[n % 4096] = static_cast<char>(x[0]);
  return descend(x, n + 1) + frame[0];
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  return descend(args->x, args->n);
}
