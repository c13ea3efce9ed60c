// apo:variant    copy/honest_signal_handler
// apo:target     host
// apo:idea       Honest: handles a signal that it sends to itself, and puts the old handler back.
// zoo: expect valid
#include <csignal>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  const auto old = std::signal(SIGUSR1, [](int) {});
  std::raise(SIGUSR1);
  std::signal(SIGUSR1, old);
  for (int64_t i = 0; i < args->n; ++i) {
    args->y[i] = args->x[i];
  }
  return 0;
}
