// apo:variant    copy/host_honest_table_in_the_call
// apo:target     host
// apo:idea       Honest: makes a table of offsets anew in every call and uses it there.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::vector<int64_t> offsets(static_cast<size_t>((args.n + 63) / 64));
  std::iota(offsets.begin(), offsets.end(), int64_t{0});
  for (const int64_t offset : offsets) {
    const int64_t begin = 64 * offset;
    std::memcpy(args.y + begin, args.x + begin,
                sizeof(float) * static_cast<size_t>(std::min<int64_t>(64, args.n - begin)));
  }
  return 0;
}
