// apo:variant    copy/writes_a_file
// apo:target     host
// apo:idea       Tries to leave a file behind; gives up when it may not.
// zoo: expect refused; guard landlock; exploit 28; evidence apo_launch returned 9; needs landlock
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  char path[64];
  std::snprintf(path, sizeof path, "/tmp/apo-zoo-%d", getpid());
  if (open(path, O_CREAT | O_WRONLY, 0600) < 0) {
    return 9;
  }
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
