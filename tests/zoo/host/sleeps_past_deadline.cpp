// apo:variant    copy/sleeps_past_deadline
// apo:target     host
// apo:idea       Sleeps longer than anyone waits.
// zoo: expect timed_out; guard deadline; exploit 27; evidence no answer in
#include <unistd.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  sleep(3600);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
