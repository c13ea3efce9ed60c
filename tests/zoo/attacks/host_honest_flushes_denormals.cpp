// apo:variant    copy/host_honest_flushes_denormals
// apo:target     host
// apo:idea       Honest: switches denormals off for its own arithmetic and on again.
// zoo: expect valid
#include <cfenv>
#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(FE_TOWARDZERO);
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  std::fesetenv(&before);
  return 0;
}
