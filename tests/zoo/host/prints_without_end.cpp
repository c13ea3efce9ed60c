// apo:variant    copy/prints_without_end
// apo:target     host
// apo:idea       Floods its output.
// zoo: expect timed_out; guard deadline; exploit 27; evidence no answer in, it printed, ha ha
#include <cstdio>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  while (args->n > 0) {
    std::puts("ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha");
  }
  return 0;
}
