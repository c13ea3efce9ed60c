// apo:variant    copy/throws_when_loaded
// apo:target     host
// apo:idea       Throws while it is loaded.
// zoo: expect faulted; guard process; evidence not today, loading
#include <stdexcept>

#include "copy_abi.h"

namespace {

__attribute__((constructor)) void stop() {
  throw std::runtime_error("not today");
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
