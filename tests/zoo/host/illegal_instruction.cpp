// apo:variant    copy/illegal_instruction
// apo:target     host
// apo:idea       Executes an instruction that this CPU does not have.
// zoo: expect faulted; guard process; evidence SIGILL
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  if (args->n > 0) {
    __builtin_trap();
  }
  return 0;
}
