// apo:variant    copy/infinite_loop
// apo:target     host
// apo:idea       Never returns.
// zoo: expect timed_out; guard deadline; exploit 27; evidence no answer in
#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  volatile int64_t count = args->n;
  while (true) {
    count = count + 1;
  }
}
