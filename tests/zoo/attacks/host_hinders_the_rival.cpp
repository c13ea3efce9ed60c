// apo:variant    copy/host_hinders_the_rival
// apo:target     host
// apo:idea       Finds the incumbent's code in the process and writes a jump to a slower one into it.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32; needs x86_64
#include "pages.h"
#include "rival.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static void* const rival = find_rival();
  static const bool done = rival == nullptr || write_jump(rival, reinterpret_cast<void*>(&slower<4>));
  copy_slowly(args);
  return done ? 0 : 1;
}
