// harness/worker/parent/worker_requests.cpp - what a worker is asked: to load, to take samples and windows, to profile.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/worker/parent/child_process.h"
#include "harness/worker/parent/evidence.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/clock.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

std::int64_t Worker::data_limit() const {
  if (options_.memory_limit_bytes <= 0 || !options_.preload.empty() || options_.target == Target::cuda) {
    return 0;  // AddressSanitizer and the CUDA driver need terabytes of it
  }
  return own_data_bytes_ + options_.memory_limit_bytes;
}

// The soft limit, which the candidate is not allowed to change. Of private memory that can be written: an allocator may
// reserve as many addresses as it likes.
void Worker::limit_memory() const {
  if (const std::int64_t bytes = data_limit(); bytes > 0 && alive()) {
    const rlimit limit{.rlim_cur = static_cast<rlim_t>(bytes), .rlim_max = RLIM_INFINITY};
    prlimit(pid(), RLIMIT_DATA, &limit, nullptr);  // fails when it has just ended, or under a lower limit of our own
  }
}

namespace {

// What a worker is told: a record has its launches, of which there may be any number.
LaunchPlan told(LaunchPlan plan) {
  if (plan.recorded) {
    plan.launches.clear();
  }
  return plan;
}

}  // namespace

// A path of the same length for both slots. A new one for every load: the old file may still be mapped.
std::filesystem::path Worker::neutral_path(int slot) {
  std::array<char, 8> generation{};
  std::snprintf(generation.data(), generation.size(), "%04u", loads_.at(static_cast<std::size_t>(slot))++ % 10'000);
  const std::filesystem::path folder = folder_.path() / generation.data();
  std::filesystem::create_directories(folder);
  return folder / fmt::format("slot{}.so", slot);
}

Result<Done> Worker::load(int slot, const std::filesystem::path& object, const LaunchPlan& plan, Deadline deadline) {
  APO_CHECK(slot == 0 || slot == 1);
  const std::filesystem::path neutral = neutral_path(slot);
  std::error_code error;
  std::filesystem::copy_file(object, neutral, std::filesystem::copy_options::overwrite_existing, error);
  if (const auto companions = object.parent_path() / kCompanions; !error && std::filesystem::exists(companions)) {
    // One that is there has the same content, of which it is named, and may be mapped.
    std::filesystem::copy(companions, neutral.parent_path() / kCompanions,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing,
                          error);
  }
  if (error) {
    throw EnvironmentError("cannot copy '" + object.string() + "' to '" + neutral.string() + "': " + error.message());
  }
  limit_memory();
  if (options_.target == Target::host || plan.library) {
    code_.expect(neutral);
  }
  const LoadRequest request{.slot = slot, .path = neutral.string(), .plan = told(plan)};
  return exchange(prepare(request, "loading", deadline)).then([&](const Reply& reply) {
    confinement_ = reply.confinement;
    return Done{};
  });
}

Result<Done> Worker::relaunch(int slot, const LaunchPlan& plan, Deadline deadline) {
  const LoadRequest request{.slot = slot, .path = "", .plan = told(plan)};
  return exchange(prepare(request, "loading", deadline)).then([](const Reply&) { return Done{}; });
}

// Our own copying, with nothing of a candidate in it: a gigabyte a second is slow for any bus.
std::chrono::milliseconds Worker::copying(std::int64_t bytes) const {
  constexpr std::int64_t kBytesPerMs = 1'000'000;
  return options_.deadline + std::chrono::milliseconds(bytes / kBytesPerMs);
}

Result<std::string> Worker::keep(std::int64_t bytes, int fd, Deadline deadline) {
  Exchange keep = prepare(KeepRequest{.bytes = bytes}, "keeping inputs on the GPU", deadline.value_or(copying(bytes)));
  keep.attached_fd = fd;
  return exchange(keep).then(&Reply::kept);
}

Result<Done> Worker::attach(const SharedTensorsLayout& layout, int fd, Deadline deadline) {
  tensors_bytes_ = layout.file_bytes();
  Exchange attach =
      prepare(AttachRequest{.layout = layout}, "attaching the tensors", deadline.value_or(copying(tensors_bytes_)));
  attach.attached_fd = fd;
  return exchange(attach).then([&](const Reply& reply) {
    tensors_base_ = reply.base;
    return Done{};
  });
}

Result<std::vector<RawSample>> Worker::run(const RunRequest& request, const Inspect& inspect, Deadline deadline) {
  const std::int64_t sent_ns = raw_ns();
  auto reply = exchange(prepare(request, "the call", deadline));
  if (reply && reply->paused) {
    const std::vector<RawSample> so_far = reply->samples;
    if (std::ssize(so_far) - 1 != request.verify_after) {
      return forged("it pauses where it was not asked to");
    }
    freeze();
    if (const auto failure = inspect ? inspect(request.verify_after) : std::nullopt) {
      return fail(*failure);
    }
    reply = exchange(prepare(ContinueRequest{}, "the call", deadline));
    if (reply && !begins_with(reply->samples, so_far) && guard_is_on(Guard::reply)) {
      return forged("it changed samples that it had reported");
    }
    if (reply && reply->paused) {
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
  return reply->samples;
}

Result<RawSample> Worker::call(int slot, int set, Deadline deadline) {
  return run({.order = {slot}, .sets = {set}, .keep_state = true, .read_back = true}, {}, deadline)
      .then([](const std::vector<RawSample>& samples) { return samples.front(); });
}

Result<std::vector<std::int64_t>> Worker::copy(std::int64_t bytes, int samples, Deadline deadline) {
  return exchange(prepare(CopyRequest{.bytes = bytes, .samples = samples}, "a copy", deadline)).then(&Reply::copy_ns);
}

std::int64_t Worker::cpu_ns() const {
  clockid_t clock{};
  return alive() && clock_getcpuclockid(pid(), &clock) == 0 ? read_ns(clock) : 0;
}

// Host code runs in windows only. Before and behind a window every thread of its process is stopped, so nothing that it
// does there needs to be noticed; and the clock, the inputs and the other arm are in other processes.
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

namespace {

// The profiler waits up to a minute for another process that uses the counters, and repeats every launch.
constexpr std::chrono::milliseconds kProfileDeadline{180'000};

}  // namespace

// What the worker leaves as text in the memory file that the request carries.
template <class Report>
Result<Report> Worker::exchange_for_file(Exchange exchange, std::optional<Report> (*decode)(std::string_view),
                                         const char* what) {
  constexpr off_t kMostBytes = off_t{8} << 30;
  const FileDescriptor file(memfd_create("apo-profile", MFD_CLOEXEC));
  if (!file) {
    throw EnvironmentError(std::string("cannot create shared memory for a profile: ") + std::strerror(errno));
  }
  exchange.attached_fd = file.get();
  const auto reply = this->exchange(exchange);
  if (!reply) {
    return reply.failure();
  }
  const off_t bytes = lseek(file.get(), 0, SEEK_END);
  std::string text(bytes > 0 && bytes <= kMostBytes ? static_cast<std::size_t>(bytes) : 0, '\0');
  if (text.empty() || pread(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return forged("it wrote no profile");
  }
  const auto report = decode(text);
  return report ? Result<Report>(*report) : forged(std::string("its ") + what + " make no sense");
}

Result<CounterReport> Worker::count(const CountRequest& request, Deadline deadline) {
  return exchange_for_file(prepare(request, "counting", deadline.value_or(kProfileDeadline)), decode_counters,
                           "counters");
}

Result<SampleReport> Worker::sample_stalls(const SampleRequest& request, Deadline deadline) {
  return exchange_for_file(prepare(request, "PC sampling", deadline.value_or(kProfileDeadline)), decode_samples,
                           "PC samples");
}

Result<RecordedCall> Worker::record(int slot, Deadline deadline) {
  if (!watch_missing_.empty()) {
    return Failure{.outcome = Outcome::refused, .evidence = std::string(kNotRecorded) + watch_missing_, .slot = slot};
  }
  return exchange_for_file(prepare(RecordRequest{.slot = slot}, "a recorded call", deadline.value_or(kProfileDeadline)),
                           decode_recorded_call, "recorded calls");
}

Result<InstructionReport> Worker::count_instructions(const InstructionRequest& request, Deadline deadline) {
  return exchange_for_file(prepare(request, "counting instructions", deadline.value_or(kProfileDeadline)),
                           decode_instructions, "counts of instructions");
}

}  // namespace apo
