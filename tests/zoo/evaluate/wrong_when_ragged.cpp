// apo:variant    copy/wrong_when_ragged
// apo:target     host
// apo:idea       Copies whole blocks of 64 and forgets the rest.
// zoo: guard shapes; exploit 22
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n / 64 * 64));
  return 0;
}
