// apo:variant    copy/keeps_first_size
// apo:target     host
// apo:idea       The size of the first call stays that of all later ones.
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  static const long long first = args->n;
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(first < args->n ? first : args->n));
  return 0;
}
