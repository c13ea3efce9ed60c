// apo:variant    copy/host_replaces_the_rival
// apo:target     host
// apo:idea       Finds the pointer through which the worker calls the incumbent, among its data, and puts a slower function there.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32
#include "rival.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  for_each_place_of(find_rival(), [](void** word) { *word = reinterpret_cast<void*>(&slower<2>); });
  copy_slowly(args);
  return 0;
}
