// apo:variant    copy/host_finishes_behind_the_call
// apo:target     host
// apo:idea       Returns at once; a thread begins when the call has surely returned, and is done before anybody has compared much.
// zoo: how verify; expect incorrect; guard poison; exploit 9
#include <chrono>
#include <thread>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const copy_args job = args;
  std::thread([job] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int64_t i = 0; i < job.n; ++i) {
      job.y[i] = job.x[i];
    }
  }).detach();
  return 0;
}
