// harness/worker/parent/worker_exchange.cpp - asks, waits, and tells a candidate's failure from a lost GPU.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/worker/parent/child_process.h"
#include "harness/worker/parent/evidence.h"
#include "harness/worker/parent/worker.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kGrace{1000};  // closing descriptors is the first thing that a dying process does

std::string nonce(std::uint64_t seed, std::uint64_t index) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(derive_seed(seed, "nonce", index)));
  return text.data();
}

// Why a new process cannot use this GPU; "" when it can.
std::string trouble_with(const WorkerOptions& options, const DeviceFacts& gpu) {
  WorkerOptions fresh = options;
  fresh.watcher.clear();
  fresh.await_start = true;
  // The GPU is awake: another process takes less than a second.
  fresh.start_deadline = std::max<std::chrono::milliseconds>(std::chrono::seconds(5), 3 * options.deadline);
  try {
    const Worker worker(fresh);
    return worker.device()->uuid == gpu.uuid ? "" : "another GPU has its number now: " + worker.device()->uuid;
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

// Judges the failure of a worker on target cuda that had `gpu`. After a fault or a missing answer it starts a process
// without a candidate on the same GPU, because error codes do not tell: a kernel that traps and a GPU that left the bus
// may both be a "launch failure". Throws DeviceLost where the failure says nothing about the candidate. An error that
// names the GPU counts only where no host code runs, which could cause or forge it.
void require_gpu(const WorkerOptions& options, const DeviceFacts& gpu, const Failure& failure, bool has_host_code) {
  const std::string what = gpu.name + " (" + gpu.uuid + ")";
  if (failure.of_device && !has_host_code) {
    throw DeviceLost("the GPU failed, " + what + ": " + failure.evidence, kLostGpuHint);
  }
  if (failure.outcome != Outcome::faulted && failure.outcome != Outcome::timed_out) {
    return;
  }
  if (const std::string trouble = trouble_with(options, gpu); !trouble.empty()) {
    throw DeviceLost("the GPU was lost, " + what + ": " + failure.evidence + "; a new process: " + trouble,
                     kLostGpuHint);
  }
}

}  // namespace

Worker::Exchange Worker::prepare(decltype(Request::body) body, std::string during, Deadline deadline) {
  return {.request = {.nonce = nonce(nonce_seed_, requests_++), .body = std::move(body)},
          .during = std::move(during),
          .deadline = deadline.value_or(options_.deadline)};
}

Result<Done> Worker::ask(const Exchange& exchange) {
  if (!alive()) {
    return Failure{.evidence = "the worker had ended before " + exchange.during};
  }
  if (frozen_) {
    process_->thaw();
    frozen_ = false;
  }
  const Received unasked = receive_message(process_->socket(), kMaxReply, false);
  if (unasked.receipt == Receipt::message || unasked.receipt == Receipt::too_long) {
    return forged("it spoke without being asked, before " + exchange.during);
  }
  const std::string line = encode(exchange.request);
  if (line.size() > kMaxRequest) {
    return Failure{.outcome = Outcome::refused,
                   .evidence = fmt::format("{} takes a request of {} bytes, of at most {}: launch fewer kernels a call",
                                           exchange.during, line.size(), kMaxRequest)};
  }
  if (!send_message(process_->socket(), line, exchange.attached_fd)) {
    return ended(exchange.during);
  }
  return Done{};
}

Result<Reply> Worker::exchange(const Exchange& exchange) {
  APO_CHECK(!hello_);
  settle();
  if (auto asked = ask(exchange); !asked) {
    return asked.failure();
  }
  return await(exchange);
}

Result<Reply> Worker::await(const Exchange& exchange) {
  const auto event = process_->wait(Clock::now() + exchange.deadline, options_.stop);
  if (event != ChildProcess::Event::message) {
    return without_message(event != ChildProcess::Event::deadline, exchange);
  }
  const Received received = receive_message(process_->socket(), kMaxReply, false);
  const auto reply = received.receipt == Receipt::message ? decode_reply(received.text) : std::nullopt;
  if (!reply) {
    return forged("it is no reply of the protocol");
  }
  if (reply->nonce != exchange.request.nonce && guard_is_on(Guard::reply)) {
    return forged("it has a wrong nonce");
  }
  inputs_unchanged_ = reply->inputs_unchanged;
  if (!reply->failure) {
    return *reply;
  }
  Failure failure{.outcome = reply->failure->outcome,
                  .evidence = printable_tail(reply->failure->evidence),
                  .slot = reply->failure->slot,
                  .of_device = reply->failure->of_device};
  if (failure.outcome == Outcome::refused || failure.outcome == Outcome::wrong_abi) {
    return failure;  // in good order: the worker lives on
  }
  failure.evidence += " (during " + exchange.during + ")";
  return fail(std::move(failure));
}

Failure Worker::without_message(bool in_time, const Exchange& exchange) {
  return in_time ? ended(exchange.during)
                 : fail({.outcome = Outcome::timed_out,
                         .evidence =
                             fmt::format("no answer in {} ms during {}", exchange.deadline.count(), exchange.during)});
}

// Ends the worker and adds what the candidate printed.
Failure Worker::fail(Failure failure) {
  if (failure.slot < 0) {
    failure.slot = status_->running_slot.load();
  }
  stop();
  if (const auto report = sanitizer_report(printed())) {
    failure.evidence = *report;
  } else {
    failure.evidence = with_output(failure.evidence, printed());
  }
  require_own_gpu(failure);
  return failure;
}

// A worker that is still starting has no candidate to blame.
void Worker::require_own_gpu(const Failure& failure) const {
  if (device_ && !watch_) {
    require_gpu(options_, *device_, failure, code_.has_host_code());
  }
}

Failure Worker::forged(const std::string& how) {
  return fail({.evidence = "sent a forged reply: " + how});
}

// The process went away, or only its connection did.
Failure Worker::ended(const std::string& during) {
  if (process_->wait_for_exit(options_.watcher.empty() ? kGrace : kWatcherGrace)) {
    const int status = process_->end();
    Failure failure = explain({.wait_status = status,
                               .during = during,
                               .printed = printed(),
                               .signal = status_->signal.load(),
                               .address = status_->address.load(),
                               .stack_overflow = status_->stack_overflow.load() != 0,
                               .forbidden_call = status_->forbidden_call.load(),
                               .data_bytes = status_->data_bytes.load(),
                               .data_limit = data_limit(),
                               .tensors_base = tensors_base_,
                               .tensors_bytes = tensors_bytes_,
                               .slot = status_->running_slot.load()});
    require_own_gpu(failure);
    return failure;
  }
  return fail({.evidence = "closed the worker's connection during " + during});
}

}  // namespace apo
