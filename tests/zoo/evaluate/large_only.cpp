// apo:variant    copy/large_only
// apo:target     host
// apo:idea       Says that it supports large workloads only.
// apo:requires   n >= 100000000
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  return 0;
}
