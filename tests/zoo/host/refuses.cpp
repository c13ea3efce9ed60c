// apo:variant    copy/refuses
// apo:target     host
// apo:idea       Says that it does not support this call.
// zoo: expect refused; guard process; evidence apo_launch returned 5
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  return args->n > 0 ? 5 : 0;
}
