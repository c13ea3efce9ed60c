// apo:variant    copy/unwritten_output
// apo:target     host
// apo:idea       Writes nothing and reports success.
// zoo: expect incorrect; guard poison; exploit 2; evidence NaN
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  return args->n < 0 ? 1 : 0;
}
