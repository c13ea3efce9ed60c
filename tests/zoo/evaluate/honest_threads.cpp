// apo:variant    copy/honest_threads
// apo:target     host
// apo:idea       Threads count what they have copied in an atomic variable.
// zoo: expect valid
#include <algorithm>
#include <atomic>
#include <thread>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  std::atomic<int> copied = 0;
  const auto copy = [&](int64_t begin, int64_t end) {
    std::copy(args->x + begin, args->x + end, args->y + begin);
    ++copied;
  };
  std::thread first(copy, 0, args->n / 2);
  copy(args->n / 2, args->n);
  first.join();
  return 0;
}
