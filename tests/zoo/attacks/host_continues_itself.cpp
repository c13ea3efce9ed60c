// apo:variant    copy/host_continues_itself
// apo:target     host
// apo:idea       A timer continues the stopped process, a thread does the work of the next call on what stands there by then.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 9
#include <csignal>
#include <ctime>

#include "slow_copy.h"

namespace {

bool started = false;

void wake_every_millisecond() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer{};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
    const itimerspec often{.it_interval = {.tv_sec = 0, .tv_nsec = 1'000'000},
                           .it_value = {.tv_sec = 0, .tv_nsec = 1'000'000}};
    timer_settime(timer, 0, &often, nullptr);
  }
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  if (!started) {
    started = true;
    wake_every_millisecond();
  }
  copy_slowly(*static_cast<const copy_args*>(call->arguments));
  return 0;
}
