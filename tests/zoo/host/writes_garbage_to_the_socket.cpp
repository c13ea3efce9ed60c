// apo:variant    copy/writes_garbage_to_the_socket
// apo:target     host
// apo:idea       Writes noise into every descriptor it finds.
// zoo: expect faulted; guard reply; exploit 20; evidence forged reply
#include <unistd.h>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const char noise[] = "\xff\x00{{{[[[\"";
  for (int fd = 3; fd < 64; ++fd) {
    if (write(fd, noise, sizeof noise) < 0) {
      continue;
    }
  }
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
