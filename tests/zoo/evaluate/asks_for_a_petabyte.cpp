// apo:variant    copy/asks_for_a_petabyte
// apo:target     host
// apo:idea       Asks for a petabyte of scratch.
// apo:scratch    heap 1024*1024*1024*1024*1024
// zoo: expect out_of_memory
// zoo: guard memory-limit
// zoo: evidence scratch
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
