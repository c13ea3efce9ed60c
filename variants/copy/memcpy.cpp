// apo:variant    copy/memcpy
// apo:target     host
// apo:technique  library-call
// apo:parent     copy/simple
// apo:idea       The C library's copy, which picks its instructions for this CPU when it is loaded.
// apo:predict    0.95x..1.1x over parent: the compiler vectorises the loop, so both wait for memory.
#include <cstring>

#include "copy.args.h"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& a = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(a.y, a.x, static_cast<size_t>(a.n) * sizeof(float));
  return 0;
}
