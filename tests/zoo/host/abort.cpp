// apo:variant    copy/abort
// apo:target     host
// apo:idea       Calls abort.
// zoo: expect faulted; guard process; evidence SIGABRT
#include <cstdlib>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  if (args->n > 0) {
    std::abort();
  }
  return 0;
}
