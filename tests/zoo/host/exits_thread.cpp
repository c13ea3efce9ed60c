// apo:variant    copy/exits_thread
// apo:target     host
// apo:idea       Ends the thread that called it.
// zoo: expect faulted; guard process; evidence during the call
#include <pthread.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  if (args->n > 0) {
    pthread_exit(nullptr);
  }
  return 0;
}
