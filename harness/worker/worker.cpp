// harness/worker/worker.cpp - asks, waits with a deadline, and turns every other ending into a Failure.
#include "harness/worker/worker.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/machine.h"
#include "harness/core/secret.h"
#include "harness/core/text.h"
#include "harness/worker/child_process.h"
#include "harness/worker/clock.h"
#include "harness/worker/evidence.h"
#include "harness/worker/samples.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kStartDeadline{20'000};
constexpr Milliseconds kCudaStartDeadline{120'000};  // the first process on an idle machine wakes up every GPU
constexpr Milliseconds kGrace{1000};                 // closing descriptors is the first thing that a dying process does
constexpr Milliseconds kWatcherGrace{20'000};        // a watcher writes its report after the worker has ended
// The profiler waits up to a minute for another process that uses the counters, and repeats every launch.
constexpr Milliseconds kProfileDeadline{180'000};
constexpr std::uint64_t kMaxPadding = 4096;

std::string nonce(std::uint64_t seed, std::uint64_t index) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(derive_seed(seed, "nonce", index)));
  return text.data();
}

Failure without_news(const std::string& during, Milliseconds deadline) {
  return {.outcome = Outcome::timed_out,
          .evidence = "no answer in " + std::to_string(deadline.count()) + " ms during " + during};
}

}  // namespace

Worker::Worker(WorkerOptions options) : options_(std::move(options)), folder_("apo-worker") {
  if (options_.program.empty()) {
    options_.program = executable_path();
  }
  if (options_.cpus.empty()) {
    options_.cpus = usable_cpus();
  }
  nonce_seed_ = secret_seed();
  status_file_ = FileDescriptor(memfd_create("apo-status", MFD_CLOEXEC));
  void* memory = MAP_FAILED;
  if (status_file_ && ftruncate(status_file_.get(), sizeof(SharedStatus)) == 0) {
    memory = mmap(nullptr, sizeof(SharedStatus), PROT_READ | PROT_WRITE, MAP_SHARED, status_file_.get(), 0);
  }
  if (memory == MAP_FAILED) {
    throw EnvironmentError(std::string("cannot create shared memory for a worker: ") + std::strerror(errno));
  }
  status_ = new (memory) SharedStatus;
  start();
}

Worker::~Worker() {
  stop();
  munmap(status_, sizeof(SharedStatus));
}

void Worker::start() {
  started_ns_ = raw_ns();
  std::vector<std::string> command = options_.watcher;
  command.insert(command.end(), {options_.program.string(), "worker"});
  process_ = std::make_unique<ChildProcess>(command, environment());
  hello_ = prepare(HelloRequest{.cpus = options_.cpus,
                                .threads = static_cast<int>(options_.cpus.size()),
                                .target = options_.target,
                                .device = options_.device,
                                .executor = options_.executor,
                                .seed = options_.layout_seed,
                                .guards_off = guards_off()},
                   "its start", options_.target == Target::cuda ? kCudaStartDeadline : kStartDeadline);
  hello_->attached_fd = status_file_.get();
  if (const auto sent = ask(*hello_); !sent) {
    throw EnvironmentError("the worker '" + options_.program.string() + "' does not start: " + sent.failure().evidence);
  }
  if (options_.await_start) {
    await_start();
  }
}

void Worker::await_start() {
  if (!hello_) {
    return;
  }
  const auto reply = await(*hello_);
  hello_.reset();
  if (!reply && reply.failure().outcome == Outcome::refused) {
    throw EnvironmentError("target cuda does not work here: " + reply.failure().evidence,
                           "'apo doctor' says what is missing; --target host works without a GPU");
  }
  if (!reply) {
    throw EnvironmentError("the worker '" + options_.program.string() +
                           "' does not start: " + reply.failure().evidence);
  }
  device_ = reply->device;
  // By its own stamp: who starts a worker ahead asks for the answer much later.
  start_seconds_ = 1e-9 * static_cast<double>(status_->ready_ns.load() - started_ns_);
  if (options_.watch_modules && options_.target == Target::cuda && options_.watcher.empty()) {
    // CUPTI loads while the parent does something else: the next request waits for it.
    watch_ = prepare(WatchRequest{}, "the start of CUPTI", kStartDeadline);
    if (const auto sent = ask(*watch_); !sent) {
      throw EnvironmentError("a worker ends before it starts CUPTI: " + sent.failure().evidence);
    }
  } else {
    remember_code();
  }
}

void Worker::wait_until_started() {
  if (hello_) {
    process_->wait(Clock::now() + hello_->deadline);  // takes no message off
  }
}

// No candidate is in the process yet.
void Worker::remember_code() {
  if (options_.watcher.empty()) {
    code_.remember(pid());
  }
  if (options_.target == Target::cuda) {
    code_.allow_made_code();
  }
  own_address_space_ = address_space(pid());
}

// Before the first request: CUPTI is there, or cannot be.
void Worker::settle() {
  if (!watch_) {
    return;
  }
  const auto reply = await(*watch_);
  watch_.reset();
  if (!reply) {
    throw EnvironmentError(
        "a worker does not survive the start of CUPTI: " + reply.failure().evidence,
        "set APO_CUPTI_LIBRARY to the libcupti of the driver's CUDA version, or to a missing file to "
        "do without");
  }
  watch_missing_ = printable_tail(reply->watch_missing);
  remember_code();
}

// Short on purpose: what stands in our environment is none of a candidate's business.
std::vector<std::string> Worker::environment() const {
  std::vector<std::string> result;
  for (const char* name : {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TMPDIR", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      result.push_back(std::string(name) + "=" + value);
    }
  }
  if (options_.target == Target::cuda) {
    // Where CUPTI may lie, and the tool that is to see this process's NVTX ranges.
    for (const char* name : {"APO_CUPTI_LIBRARY", "CUDA_HOME", "CUDA_PATH", "NVTX_INJECTION64_PATH"}) {
      if (const char* value = std::getenv(name); value != nullptr) {
        result.push_back(std::string(name) + "=" + value);
      }
    }
  }
  // Threads that spin while they wait would take the CPU from the other slot.
  result.insert(result.end(), {"OMP_WAIT_POLICY=passive", "OMP_DYNAMIC=false",
                               "OMP_NUM_THREADS=" + std::to_string(options_.cpus.size())});
  if (!options_.preload.empty()) {
    const std::int64_t megabytes = options_.memory_limit_bytes >> 20;
    result.push_back("LD_PRELOAD=" + options_.preload);
    result.push_back("ASAN_OPTIONS=detect_leaks=0:color=never:halt_on_error=1:verify_asan_link_order=0:" +
                     std::string("hard_rss_limit_mb=") + std::to_string(megabytes));
    result.push_back("UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=0:color=never");
  }
  if (!options_.watcher.empty()) {
    result.push_back(std::string(kWatchedVariable) + "=1");
  }
  Random random(derive_seed(options_.layout_seed, "environment"));
  result.push_back("APO_PADDING=" + std::string(random.below(kMaxPadding + 1), 'x'));
  result.insert(result.end(), options_.environment.begin(), options_.environment.end());
  return result;
}

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
  APO_CHECK(line.size() <= kMaxRequest);
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
  switch (process_->wait(Clock::now() + exchange.deadline)) {
    case ChildProcess::Event::deadline:
      return fail(without_news(exchange.during, exchange.deadline));
    case ChildProcess::Event::exited:
    case ChildProcess::Event::hung_up:
      return ended(exchange.during);
    case ChildProcess::Event::message:
      break;
  }
  const Received received = receive_message(process_->socket(), kMaxReply, false);
  const auto reply = received.receipt == Receipt::message ? decode_reply(received.text) : std::nullopt;
  if (!reply) {
    return forged("it is no reply of the protocol");
  }
  if (reply->nonce != exchange.request.nonce && guard_is_on(Guard::reply)) {
    return forged("it has a wrong nonce");
  }
  if (!reply->failure) {
    return *reply;
  }
  Failure failure{.outcome = reply->failure->outcome,
                  .evidence = printable_tail(reply->failure->evidence),
                  .slot = reply->failure->slot};
  if (failure.outcome == Outcome::refused || failure.outcome == Outcome::wrong_abi) {
    return failure;  // in good order: the worker lives on
  }
  failure.evidence += " (during " + exchange.during + ")";
  return fail(std::move(failure));
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
  return failure;
}

Failure Worker::forged(const std::string& how) {
  return fail({.evidence = "sent a forged reply: " + how});
}

// The process went away, or only its connection did.
Failure Worker::ended(const std::string& during) {
  if (process_->wait_for_exit(options_.watcher.empty() ? kGrace : kWatcherGrace)) {
    const int status = process_->end();
    return explain({.wait_status = status,
                    .during = during,
                    .printed = printed(),
                    .signal = status_->signal.load(),
                    .address = status_->address.load(),
                    .stack_overflow = status_->stack_overflow.load() != 0,
                    .forbidden_call = status_->forbidden_call.load(),
                    .address_space = status_->address_space.load(),
                    .address_space_limit = address_space_limit(),
                    .arena_base = arena_base_,
                    .arena_bytes = arena_bytes_,
                    .slot = status_->running_slot.load()});
  }
  return fail({.evidence = "closed the worker's connection during " + during});
}

std::int64_t Worker::address_space_limit() const {
  if (options_.memory_limit_bytes <= 0 || !options_.preload.empty() || options_.target == Target::cuda) {
    return 0;  // AddressSanitizer and the CUDA driver need terabytes of it
  }
  return own_address_space_ + options_.memory_limit_bytes + arena_bytes_ + 2 * static_cast<std::int64_t>(kArenaReserve);
}

// The soft limit, which the candidate is not allowed to change.
void Worker::limit_memory() const {
  if (const std::int64_t bytes = address_space_limit(); bytes > 0 && alive()) {
    const rlimit limit{.rlim_cur = static_cast<rlim_t>(bytes), .rlim_max = RLIM_INFINITY};
    prlimit(pid(), RLIMIT_AS, &limit, nullptr);  // fails when it has just ended, or under a lower limit of our own
  }
}

// A path of the same length for both slots. A new one for every load: the old file may still be mapped.
std::filesystem::path Worker::neutral_path(int slot) {
  std::array<char, 8> generation{};
  std::snprintf(generation.data(), generation.size(), "%04u", loads_.at(static_cast<std::size_t>(slot))++ % 10'000);
  const std::filesystem::path folder = folder_.path() / generation.data();
  std::filesystem::create_directories(folder);
  return folder / ("slot" + std::to_string(slot) + ".so");
}

Result<Done> Worker::load(int slot, const std::filesystem::path& object, const LaunchPlan& plan, Deadline deadline) {
  APO_CHECK(slot == 0 || slot == 1);
  const std::filesystem::path neutral = neutral_path(slot);
  std::error_code error;
  std::filesystem::copy_file(object, neutral, std::filesystem::copy_options::overwrite_existing, error);
  if (error) {
    throw EnvironmentError("cannot copy '" + object.string() + "' to '" + neutral.string() + "': " + error.message());
  }
  limit_memory();
  if (options_.target == Target::host || plan.library) {
    code_.expect(neutral);
  }
  const auto reply =
      exchange(prepare(LoadRequest{.slot = slot, .path = neutral.string(), .plan = plan}, "loading", deadline));
  if (!reply) {
    return reply.failure();
  }
  confinement_ = reply->confinement;
  return Done{};
}

Result<Done> Worker::attach(const Arena& arena, Deadline deadline) {
  arena_bytes_ = arena.layout().bytes;
  arena_ = &arena;
  limit_memory();
  // Its own copying, with nothing of a candidate in it: a gigabyte a second is slow for any bus.
  constexpr std::int64_t kBytesPerMs = 1'000'000;
  Exchange attach = prepare(AttachRequest{.layout = arena.layout()}, "attaching the tensors",
                            deadline.value_or(options_.deadline + Milliseconds(arena_bytes_ / kBytesPerMs)));
  attach.attached_fd = arena.fd();
  const auto reply = exchange(std::move(attach));
  if (!reply) {
    return reply.failure();
  }
  arena_base_ = reply->base;
  return Done{};
}

Result<std::vector<RawSample>> Worker::run(const RunRequest& request, const Inspect& inspect, Deadline deadline) {
  const std::int64_t sent_ns = raw_ns();
  waited_ns_.clear();
  std::int64_t asked_ns = raw_ns();
  auto reply = exchange(prepare(request, "the call", deadline));
  while (reply && reply->paused) {
    if (request.pause_each) {
      waited_ns_.push_back(raw_ns() - asked_ns);
    }
    const std::vector<RawSample> so_far = reply->samples;
    if (const auto failure = inspect && std::ssize(so_far) - 1 == request.verify_after
                                 ? look(request, so_far.back(), inspect, deadline)
                                 : std::nullopt) {
      return *failure;
    }
    asked_ns = raw_ns();
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
std::optional<Failure> Worker::look(const RunRequest& request, const RawSample& sample, const Inspect& inspect,
                                    Deadline deadline) {
  if (request.pause_each && options_.target == Target::cuda) {
    const auto reply = exchange(prepare(ContinueRequest{.read_back = true}, "copying the outputs", deadline));
    if (!reply) {
      return reply.failure();
    }
  }
  freeze();
  if (auto late = check_outputs(sample)) {
    return late;
  }
  if (auto failure = inspect(request.verify_after)) {
    return fail(*failure);
  }
  if (auto changed = code_.has_host_code() ? check_code() : std::nullopt) {
    return changed;
  }
  return request.pause_each ? check_idle() : std::nullopt;
}

// A failure ends the worker.
std::optional<Failure> Worker::check_outputs(const RawSample& sample) {
  const bool looked = options_.target == Target::host && !options_.executor && arena_ != nullptr;
  if (!looked || !guard_is_on(Guard::freeze) || sample.output_hash == arena_->output_hash()) {
    return std::nullopt;
  }
  return fail({.outcome = Outcome::incorrect,
               .evidence = "wrote to its outputs after the call had returned",
               .slot = sample.slot});
}

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

// The text that the worker leaves in the memory file that the request carries.
Result<std::string> Worker::exchange_for_file(Exchange exchange) {
  constexpr off_t kMostBytes = off_t{64} << 20;
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
  return text;
}

Result<CounterReport> Worker::count(const CountRequest& request, Deadline deadline) {
  const auto text = exchange_for_file(prepare(request, "counting", deadline.value_or(kProfileDeadline)));
  if (!text) {
    return text.failure();
  }
  const auto report = decode_counters(*text);
  return report ? Result<CounterReport>(*report) : forged("its counters make no sense");
}

Result<SampleReport> Worker::sample_stalls(const SampleRequest& request, Deadline deadline) {
  const auto text = exchange_for_file(prepare(request, "PC sampling", deadline.value_or(kProfileDeadline)));
  if (!text) {
    return text.failure();
  }
  const auto report = decode_samples(*text);
  return report ? Result<SampleReport>(*report) : forged("its PC samples make no sense");
}

Result<std::vector<std::string>> Worker::loaded_images(int slot, Deadline deadline) {
  const auto text = exchange_for_file(prepare(ImagesRequest{.slot = slot}, "handing over its images", deadline));
  if (!text) {
    return text.failure();
  }
  const auto images = decode_images(*text);
  return images ? Result<std::vector<std::string>>(*images) : forged("its images make no sense");
}

Result<InstructionReport> Worker::count_instructions(const InstructionRequest& request, Deadline deadline) {
  const auto text = exchange_for_file(prepare(request, "counting instructions", deadline.value_or(kProfileDeadline)));
  if (!text) {
    return text.failure();
  }
  const auto report = decode_instructions(*text);
  return report ? Result<InstructionReport>(*report) : forged("its counts of instructions make no sense");
}

void Worker::freeze() {
  if (!options_.watcher.empty() || !guard_is_on(Guard::freeze)) {
    return;  // a stopped watcher holds nothing still, and a stopped worker could not end
  }
  process_->freeze();
  frozen_ = true;
}

bool Worker::alive() const {
  return process_->alive();
}

int Worker::pid() const {
  return process_->pid();
}

const std::string& Worker::printed() const {
  return process_->printed();
}

void Worker::stop() {
  if (process_ != nullptr) {
    if (!options_.watcher.empty() && alive()) {
      process_->hang_up();
      process_->wait_for_exit(kWatcherGrace);  // killed below when that was not enough
    }
    process_->end();
  }
}

}  // namespace apo
