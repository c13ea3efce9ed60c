// apo:variant    copy/forges_reply
// apo:target     host
// apo:idea       Answers the harness itself, with a very good time.
// zoo: expect faulted; guard reply; exploit 20; evidence forged reply, wrong nonce
#include <unistd.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const char reply[] = "{\"nonce\":\"0\",\"samples\":[[0,0,1,2,1,2,1,2,0,0,0,0]]}\n";
  return write(3, reply, sizeof reply - 1) > 0 && args->n > 0 ? 0 : 1;
}
