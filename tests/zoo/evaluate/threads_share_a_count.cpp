// apo:variant    copy/threads_share_a_count
// apo:target     host
// apo:idea       Threads count what they have copied in a variable without a lock: right by luck.
// zoo: guard sanitizers; exploit 31
#include <algorithm>
#include <thread>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  int copied = 0;
  const auto copy = [&](int64_t begin, int64_t end) {
    std::copy(args->x + begin, args->x + end, args->y + begin);
    ++copied;
  };
  std::thread first(copy, 0, args->n / 2);
  copy(args->n / 2, args->n);
  first.join();
  return 0;
}
