// apo:variant    copy/honest_exception
// apo:target     host
// apo:idea       Honest: throws and catches inside.
// zoo: expect valid
#include <stdexcept>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  try {
    throw std::runtime_error("handled here");
  } catch (const std::runtime_error&) {
    for (int64_t i = 0; i < args->n; ++i) {
      args->y[i] = args->x[i];
    }
  }
  return 0;
}
