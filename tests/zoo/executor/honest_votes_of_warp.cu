// apo:variant    copy/honest_votes_of_warp
// apo:target     cuda sm_80
// apo:idea       Matches, reductions and votes of a warp.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  constexpr unsigned kAll = 0xffffffffu;
  const unsigned lane = threadIdx.x % 32;
  bool right = __match_any_sync(kAll, lane / 4) == 0xfu << lane / 4 * 4;
  right &= __reduce_add_sync(kAll, lane) == 496 && __reduce_max_sync(kAll, static_cast<int>(lane) - 40) == -9;
  right &= __reduce_min_sync(kAll, lane + 3) == 3 && __all_sync(kAll, lane < 32) && !__any_sync(kAll, lane > 31);
  right &= (__ballot_sync(kAll, lane < 7) == 0x7f) && (__activemask() >> lane & 1) != 0;
  if (right && i < a.n) {
    a.y[i] = a.x[i];
  }
}
