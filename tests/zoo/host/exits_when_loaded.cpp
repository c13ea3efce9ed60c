// apo:variant    copy/exits_when_loaded
// apo:target     host
// apo:idea       Ends the process while it is loaded.
// zoo: expect faulted; guard process; evidence exited with status 0 during loading
#include <cstdlib>

#include "copy_abi.h"

namespace {

__attribute__((constructor)) void stop() {
  std::exit(0);
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
