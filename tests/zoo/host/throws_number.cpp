// apo:variant    copy/throws_number
// apo:target     host
// apo:idea       Throws an int.
// zoo: expect faulted; guard process; evidence not a std::exception
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  if (args->n > 0) {
    throw 42;
  }
  return 0;
}
