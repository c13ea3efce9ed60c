// apo:variant    copy/honest_double_buffer
// apo:target     host
// apo:idea       Honest: goes through a buffer of its own from malloc.
// zoo: expect valid
#include <cstdlib>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  auto* buffer = static_cast<float*>(std::malloc(static_cast<size_t>(args->n) * sizeof(float)));
  if (buffer == nullptr) {
    return 1;
  }
  std::memcpy(buffer, args->x, static_cast<size_t>(args->n) * sizeof(float));
  std::memcpy(args->y, buffer, static_cast<size_t>(args->n) * sizeof(float));
  std::free(buffer);
  return 0;
}
