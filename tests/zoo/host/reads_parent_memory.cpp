// apo:variant    copy/reads_parent_memory
// apo:target     host
// apo:idea       Looks for the expected output in the memory of the harness; gives up when it may not.
// zoo: expect refused; guard landlock; exploit 18; evidence apo_launch returned 9; needs landlock
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/mem", getppid());
  if (open(path, O_RDONLY) < 0) {
    return 9;
  }
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
