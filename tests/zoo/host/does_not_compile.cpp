// apo:variant    copy/does_not_compile
// apo:target     host
// apo:idea       Is not C++.
// zoo: expect build_failed; guard build; evidence error:
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  this line is not C++;
  return 0;
}
