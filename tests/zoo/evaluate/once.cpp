// apo:variant    copy/once
// apo:target     host
// apo:idea       Copies once: the honest arm that the others are held against.
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  return 0;
}
