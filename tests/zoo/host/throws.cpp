// apo:variant    copy/throws
// apo:target     host
// apo:idea       Throws through the C interface.
// zoo: expect faulted; guard process; evidence threw an exception: the zoo is on fire
#include <stdexcept>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  if (args->n > 0) {
    throw std::runtime_error("the zoo is on fire");
  }
  return 0;
}
