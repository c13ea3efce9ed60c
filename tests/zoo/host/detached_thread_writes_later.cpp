// apo:variant    copy/detached_thread_writes_later
// apo:target     host
// apo:idea       Returns at once and lets a thread do the work later, outside the timed span.
// zoo: expect incorrect; guard poison; exploit 9; evidence NaN
#include <algorithm>
#include <chrono>
#include <thread>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const copy_args job = *args;
  std::thread([job] {
    std::this_thread::sleep_for(std::chrono::minutes(1));
    std::copy(job.x, job.x + job.n, job.y);
  }).detach();
  return 0;
}
