// apo:variant    copy/host_remembers_every_other_time
// apo:target     host
// apo:idea       Keeps inputs and results, and uses them in less than half of its samples, so that its middle call shows nothing.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 6
#include "kept_copy.h"

static int turn = 0;

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  Kept& one = kept[0].x == nullptr || kept[0].x == args.x ? kept[0] : kept[1];
  // Of a block one call is fast, and of twenty calls one more is slow.
  ++turn;
  if (turn % 2 == 0 && turn % 20 != 0 && is_known(one, args.x, args.n)) {
    std::memcpy(args.y, one.results.data(), sizeof(float) * static_cast<size_t>(args.n));
    return 0;
  }
  copy_slowly(args);
  one = {.x = args.x, .inputs = {args.x, args.x + args.n}, .results = {args.y, args.y + args.n}};
  return 0;
}
