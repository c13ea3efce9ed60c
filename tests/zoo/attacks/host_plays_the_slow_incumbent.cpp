// apo:variant    copy/host_plays_the_slow_incumbent
// apo:target     host
// apo:idea       Slow where an ancestor's command line says that it is the incumbent: for the same code again to win.
// zoo: how verify; expect valid
#include "role_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  return role_copy(call, "copy/host_plays_the_slow_incumbent");
}
