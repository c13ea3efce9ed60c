// apo:variant    copy/host_honest_asks_the_time
// apo:target     host
// apo:idea       Honest: looks at the clock, for a log of its own.
// zoo: expect valid
#include <cstring>
#include <ctime>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static timespec last{};
  clock_gettime(CLOCK_MONOTONIC, &last);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
