// apo:variant    copy/quick_exit
// apo:target     host
// apo:idea       Ends the process without any clean-up.
// zoo: expect faulted; guard process; evidence exited with status 3 during the call
#include <cstdlib>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  std::quick_exit(3);
}
