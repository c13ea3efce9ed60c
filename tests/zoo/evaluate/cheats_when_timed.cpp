// apo:variant    copy/cheats_when_timed
// apo:target     host
// apo:idea       Right for the first sixty calls of a process, then leaves the output alone: passes every check before timing.
// zoo: guard timed-check; exploit 12
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  static int calls = 0;
  if (++calls <= 60) {
    std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  }
  return 0;
}
