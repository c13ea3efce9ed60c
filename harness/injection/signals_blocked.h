// harness/injection/signals_blocked.h - blocks the application's signals while the injected library works.
#pragma once

#include <csignal>
#include <ctime>

namespace apo {

// Blocks signals on this thread for its lifetime: no handler of the host runs, and no signal that writing can raise
// ends it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    // Takes a pending SIGXFSZ, which a write beyond the host's limit of a file's size left: unblocked, it would end the
    // host.
    sigset_t beyond_limit;
    sigemptyset(&beyond_limit);
    sigaddset(&beyond_limit, SIGXFSZ);
    constexpr timespec kNow{.tv_sec = 0, .tv_nsec = 0};
    sigtimedwait(&beyond_limit, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace apo
