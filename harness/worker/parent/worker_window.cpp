// harness/worker/parent/worker_window.cpp - lets host code run for one window and stops it again, by the parent's
// clock.
//
// Host code runs in windows only. Before and behind a window every thread of its process is stopped, so nothing that it
// does there needs to be noticed; and the clock, the inputs and the other arm are in other processes.
#include <ctime>

#include "harness/core/error.h"
#include "harness/worker/parent/child_process.h"
#include "harness/worker/parent/evidence.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/clock.h"

namespace apo {
std::int64_t Worker::cpu_ns() const {
  clockid_t clock{};
  return alive() && clock_getcpuclockid(pid(), &clock) == 0 ? read_ns(clock) : 0;
}

Result<WindowTimes> Worker::run_window(Deadline deadline) {
  APO_CHECK(frozen_ && alive());
  const std::int64_t before_ns = cpu_ns();
  if (!process_->stayed_frozen()) {
    return fail({.outcome = Outcome::faulted, .evidence = "ran between its windows, where it was stopped", .slot = 0});
  }
  const Exchange begin = prepare(ContinueRequest{}, "a timed window", deadline);
  if (!send_message(process_->socket(), kWindowBegin)) {
    return ended(begin.during);
  }
  const std::int64_t begin_ns = raw_ns();
  process_->thaw();
  const ChildProcess::Event event = process_->wait(std::chrono::steady_clock::now() + begin.deadline);
  frozen_ = false;
  if (event == ChildProcess::Event::message) {
    freeze();
    WindowTimes times{.ns = raw_ns() - begin_ns};  // what it does before it is stopped is in its time
    const Received received = receive_message(process_->socket(), kMaxReply, false);
    if (received.receipt == Receipt::message && received.text == kWindowEnd) {
      times.cpu_ns = cpu_ns() - before_ns;
      return times;
    }
    const auto reply = received.receipt == Receipt::message ? decode_reply(received.text) : std::nullopt;
    if (!reply || !reply->failure) {
      return forged("it is no answer to a window");
    }
    return fail({.outcome = reply->failure->outcome,
                 .evidence = printable_tail(reply->failure->evidence) + " (during " + begin.during + ")",
                 .slot = 0});
  }
  return without_message(event != ChildProcess::Event::deadline, begin);
}

}  // namespace apo
