// apo:variant    copy/host_honest_atomic_ticket
// apo:target     host
// apo:idea       Honest: threads that take parts by an atomic counter, in whatever order they come.
// zoo: expect valid
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next.fetch_add(512); i < args.n; i = next.fetch_add(512)) {
      std::memcpy(args.y + i, args.x + i, sizeof(float) * static_cast<size_t>(std::min<int64_t>(512, args.n - i)));
    }
  };
  std::thread other(work);
  work();
  other.join();
  return 0;
}
