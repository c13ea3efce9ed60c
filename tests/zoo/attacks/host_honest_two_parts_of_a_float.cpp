// apo:variant    copy/host_honest_two_parts_of_a_float
// apo:target     host
// apo:idea       Honest: takes a value apart into a coarse and a fine part and adds them again, which is exact.
// zoo: expect valid
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  for (int64_t i = 0; i < args.n; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, args.x + i, sizeof bits);
    bits &= 0xffff0000u;
    float coarse = 0;
    std::memcpy(&coarse, &bits, sizeof coarse);
    args.y[i] = coarse + (args.x[i] - coarse);
  }
  return 0;
}
