// apo:variant    copy/segfault
// apo:target     host
// apo:idea       Writes through a null pointer.
// zoo: expect faulted; guard process; evidence SIGSEGV, during the call at address 0x
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  volatile int* nowhere = nullptr;
  *nowhere = static_cast<int>(args->n);
  return 0;
}
