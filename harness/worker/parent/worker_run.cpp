// harness/worker/parent/worker_run.cpp - takes samples in a worker, with pauses in which the parent looks at the
// outputs.
#include <iterator>

#include "harness/core/guards.h"
#include "harness/worker/parent/evidence.h"
#include "harness/worker/parent/samples.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/clock.h"

namespace apo {

Result<std::vector<RawSample>> Worker::run(const RunRequest& request, const Inspect& inspect, Deadline deadline) {
  const std::int64_t sent_ns = raw_ns();
  auto reply = exchange(prepare(request, "the call", deadline));
  while (reply && reply->paused) {
    const std::vector<RawSample> so_far = reply->samples;
    if (const auto failure = inspect && std::ssize(so_far) - 1 == request.verify_after
                                 ? look(request, inspect, deadline)
                                 : std::nullopt) {
      return *failure;
    }
    reply = exchange(prepare(ContinueRequest{}, "the call", deadline));
    if (reply && !begins_with(reply->samples, so_far) && guard_is_on(Guard::reply)) {
      return forged("it changed samples that it had reported");
    }
    if (reply && reply->paused && std::ssize(reply->samples) == std::ssize(so_far)) {
      return forged("it pauses where it was not asked to");
    }
  }
  if (!reply) {
    return reply.failure();
  }
  const auto wrong = mistake_in(reply->samples, request, sent_ns, raw_ns(), options_.target);
  if (wrong && guard_is_on(Guard::reply)) {
    return forged(*wrong);
  }
  state_ = reply->state;
  activity_missing_ = printable_tail(reply->activity_missing);
  return reply->samples;
}

// At a pause of a run, with nothing in the worker moving.
std::optional<Failure> Worker::look(const RunRequest& request, const Inspect& inspect, Deadline deadline) {
  if (request.pause_each) {
    const auto reply = exchange(prepare(ContinueRequest{.read_back = true}, "copying the outputs", deadline));
    if (!reply) {
      return reply.failure();
    }
  }
  freeze();
  if (auto failure = inspect(request.verify_after)) {
    return fail(*failure);
  }
  if (auto changed = code_.has_host_code() ? check_code() : std::nullopt) {
    return changed;
  }
  return request.pause_each ? check_idle() : std::nullopt;
}

Result<RawSample> Worker::call(int slot, int set, Deadline deadline) {
  const auto samples = run({.order = {slot}, .sets = {set}, .read_back = true}, {}, deadline);
  if (!samples) {
    return samples.failure();
  }
  return samples->front();
}

Result<std::vector<std::int64_t>> Worker::copy(std::int64_t bytes, int samples, Deadline deadline) {
  const auto reply = exchange(prepare(CopyRequest{.bytes = bytes, .samples = samples}, "a copy", deadline));
  if (!reply) {
    return reply.failure();
  }
  return reply->copy_ns;
}

}  // namespace apo
