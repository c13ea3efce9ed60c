// apo:variant    copy/host_hinders_now_and_then
// apo:target     host
// apo:idea       Replaces the incumbent by a slower function for less than half of the blocks, so that its middle call is as ever.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 32
#include "rival.h"

namespace {

void** place = nullptr;
void* rival = nullptr;
int calls = 0;

bool find() {
  rival = find_rival();
  for_each_place_of(rival, [](void** word) { place = word; });
  return place != nullptr;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool found = find();
  if (found) {
    ++calls;
    *place = calls % 20 < 7 ? reinterpret_cast<void*>(&slower<3>) : rival;  // two calls a block
  }
  copy_slowly(args);
  return 0;
}
