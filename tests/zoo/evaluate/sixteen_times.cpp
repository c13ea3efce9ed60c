// apo:variant    copy/sixteen_times
// apo:target     host
// apo:idea       Copies sixteen times: honest and slower.
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (volatile int i = 0; i < 16; i = i + 1) {
    std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  }
  return 0;
}
