// apo:variant    copy/host_finds_its_role
// apo:target     host
// apo:idea       The incumbent's code again, which is slow where an ancestor's command line says that it is the incumbent.
// zoo: how compare warm n4k; against copy/host_plays_the_slow_incumbent; expect not_accepted; guard room; exploit 34
#include "role_copy.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  return role_copy(call, "copy/host_finds_its_role");
}
