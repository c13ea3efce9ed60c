// apo:variant    copy/host_answers_early
// apo:target     host
// apo:idea       Says that the window is over, in the words of the worker, and does the work behind that.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 9
#include <sys/socket.h>

#include "slow_copy.h"

namespace {

// The worker's own answer then comes in the next window, at once.
void answer() {
  constexpr int kDescriptors = 16;
  for (int fd = 3; fd < kDescriptors; ++fd) {
    send(fd, "done", 4, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

int calls = 0;

}  // namespace

// A process that checks makes fewer calls than one that is timed.
APO_EXPORT int apo_launch(const apo_call* call) {
  constexpr int kChecked = 6;
  if (++calls > kChecked) {
    answer();
  }
  copy_slowly(*static_cast<const copy_args*>(call->arguments));
  return 0;
}
