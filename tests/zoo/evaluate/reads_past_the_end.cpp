// apo:variant    copy/reads_past_the_end
// apo:target     host
// apo:idea       Reads one element past the input: right by luck, and AddressSanitizer sees it.
// zoo: guard sanitizers; exploit 30
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::memcpy(args->y, args->x, sizeof(float) * static_cast<size_t>(args->n));
  // Where the input ends within a cache line: behind others there is a fence.
  if (args->n % 16 != 0) {
    volatile float sink = args->x[args->n];
    (void)sink;
  }
  return 0;
}
