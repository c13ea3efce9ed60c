// apo:variant    copy/aborts_when_loaded
// apo:target     host
// apo:idea       Aborts while it is loaded, before anything is called.
// zoo: expect faulted; guard process; evidence SIGABRT, during loading
#include <cstdlib>

#include "copy_abi.h"

namespace {

__attribute__((constructor)) void stop() {
  std::abort();
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
