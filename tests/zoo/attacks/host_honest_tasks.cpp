// apo:variant    copy/host_honest_tasks
// apo:target     host
// apo:idea       Honest: std::async, joined by its futures.
// zoo: expect valid
#include <cstring>
#include <future>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  auto rest = std::async(std::launch::async, [&args] {
    std::memcpy(args.y + args.n / 2, args.x + args.n / 2, sizeof(float) * static_cast<size_t>(args.n - args.n / 2));
  });
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n / 2));
  rest.get();
  return 0;
}
