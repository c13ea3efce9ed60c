// harness/worker/parent/worker_checks.cpp - whether a candidate changed the worker's code, or works unasked.
#include <ctime>
#include <thread>

#include "harness/core/guards.h"
#include "harness/core/text.h"
#include "harness/worker/parent/child_process.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/clock.h"

namespace apo {

// A failure ends the worker.
std::optional<Failure> Worker::check_idle() {
  constexpr std::chrono::milliseconds kToSettle{1};  // threads that were woken for the call go to sleep again
  constexpr std::chrono::milliseconds kWatched{2};
  clockid_t clock{};
  if (!guard_is_on(Guard::idle) || !options_.watcher.empty() || !alive() || clock_getcpuclockid(pid(), &clock) != 0) {
    return std::nullopt;
  }
  if (frozen_) {
    process_->thaw();
    frozen_ = false;
  }
  std::this_thread::sleep_for(kToSettle);
  const std::int64_t begin_ns = raw_ns();
  const std::int64_t begin_cpu_ns = read_ns(clock);
  std::this_thread::sleep_for(kWatched);
  const std::int64_t cpu_ns = read_ns(clock) - begin_cpu_ns;
  const std::int64_t ns = raw_ns() - begin_ns;
  if (2 * cpu_ns <= ns) {
    return std::nullopt;
  }
  return fail({.outcome = Outcome::faulted,
               .evidence = "works while nobody has called it: " + format_ns(static_cast<double>(cpu_ns)) +
                           " of CPU time in " + format_ns(static_cast<double>(ns)) + " between two calls"});
}

// A failure ends the worker.
std::optional<Failure> Worker::check_code() {
  if (!guard_is_on(Guard::code) || !alive()) {
    return std::nullopt;
  }
  auto changed = code_.change(pid());
  if (!changed) {
    return std::nullopt;
  }
  return fail({.outcome = Outcome::faulted, .evidence = *changed});
}

}  // namespace apo
