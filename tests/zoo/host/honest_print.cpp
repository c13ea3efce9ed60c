// apo:variant    copy/honest_print
// apo:target     host
// apo:idea       Honest: prints one line on each call.
// zoo: expect valid
#include <cstdio>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::puts("copying");
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
