// apo:variant    copy/honest_threads
// apo:target     host
// apo:idea       Honest: starts threads and joins them before it returns.
// zoo: expect valid
#include <algorithm>
#include <thread>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const int64_t middle = args->n / 2;
  std::thread first([=] { std::copy(args->x, args->x + middle, args->y); });
  std::thread second([=] { std::copy(args->x + middle, args->x + args->n, args->y + middle); });
  first.join();
  second.join();
  return 0;
}
