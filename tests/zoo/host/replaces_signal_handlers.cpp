// apo:variant    copy/replaces_signal_handlers
// apo:target     host
// apo:idea       Ignores every signal that can be ignored, then loops.
// zoo: expect timed_out; guard deadline; exploit 27; evidence no answer in
#include <csignal>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto* args = static_cast<const copy_args*>(call->arguments);
  for (int signal = 1; signal < 32; ++signal) {
    std::signal(signal, SIG_IGN);
  }
  volatile int64_t count = args->n;
  while (true) {
    count = count + 1;
  }
}
