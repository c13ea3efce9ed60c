// harness/worker/parent/worker.cpp - a worker's process: its environment and start, checks without asking it, its end.
#include "harness/worker/parent/worker.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/worker/confinement/confinement.h"
#include "harness/worker/parent/child_process.h"
#include "harness/worker/parent/evidence.h"
#include "harness/worker/protocol/clock.h"
#include "harness/worker/protocol/protocol.h"
#include "kernels/random.h"

namespace apo {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
// Ends only what hangs: a busy machine starts slowly, and the first process on an idle one wakes up every GPU.
constexpr Milliseconds kStartDeadline{120'000};

Milliseconds start_deadline(const WorkerOptions& options) {
  return options.start_deadline.count() > 0 ? options.start_deadline : kStartDeadline;
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
  {
    // ThreadSanitizer stops where addresses are drawn from more than it has set aside. A thread's children inherit
    // this.
    constexpr unsigned long kAsk = 0xffffffff;
    const int before = options_.preload.empty() ? -1 : personality(kAsk);
    if (before != -1) {
      personality(static_cast<unsigned>(before) | ADDR_NO_RANDOMIZE);
    }
    process_ = std::make_unique<ChildProcess>(command, worker_environment(options_));
    if (before != -1) {
      personality(static_cast<unsigned>(before));
    }
  }
  hello_ = prepare(HelloRequest{.cpus = options_.cpus,
                                .threads = static_cast<int>(options_.cpus.size()),
                                .target = options_.target,
                                .device = options_.device,
                                .executor = options_.executor,
                                .seed = options_.layout_seed,
                                .guards_off = guards_off(),
                                .room = has_room() ? folder_.path().string() : "",
                                .name_refused = options_.name_refused},
                   "its start", start_deadline(options_));
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
  static std::atomic<bool> cuda_has_worked = false;
  const auto reply = await(*hello_);
  hello_.reset();
  if (!reply && reply.failure().outcome == Outcome::refused && cuda_has_worked) {
    throw DeviceLost("target cuda does not work here any more: " + reply.failure().evidence, kLostGpuHint);
  }
  if (!reply && reply.failure().outcome == Outcome::refused) {
    throw EnvironmentError(
        "target cuda does not work here: " + reply.failure().evidence,
        "'apo doctor' says what is missing; without a GPU, 'apo verify VARIANT --on cpu' checks a kernel, and "
        "variants for target host can be judged");
  }
  if (!reply) {
    throw EnvironmentError("the worker '" + options_.program.string() +
                           "' does not start: " + reply.failure().evidence);
  }
  device_ = reply->device;
  cuda_has_worked = cuda_has_worked || options_.target == Target::cuda;
  // By its own stamp: who starts a worker ahead asks for the answer much later.
  start_seconds_ = 1e-9 * static_cast<double>(status_->ready_ns.load() - started_ns_);
  if (options_.record_calls && options_.target == Target::cuda && options_.watcher.empty()) {
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
  if (options_.watcher.empty() && options_.target == Target::host) {
    code_.remember(pid());
  }
  own_data_bytes_ = data_bytes(pid());
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

// A sanitizer and the executor read the lines of what they find.
bool Worker::has_room() const {
  return options_.target == Target::host && !options_.executor && options_.preload.empty() && guard_is_on(Guard::room);
}

std::string Worker::refused_call() const {
  const int call = status_->refused_call.load();
  const std::string path = printable_tail(
      {status_->refused_path.data(), strnlen(status_->refused_path.data(), status_->refused_path.size())});
  return call < 0 ? "" : path.empty() ? system_call_name(call) : fmt::format("open(\"{}\")", path);
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

void Worker::freeze() {
  if (!options_.watcher.empty()) {
    return;  // a stopped watcher holds nothing still, and a stopped worker could not end
  }
  process_->freeze();
  frozen_ = true;
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

std::vector<std::string> worker_environment(const WorkerOptions& options) {
  constexpr std::uint64_t kMaxPadding = 4096;
  std::vector<std::string> result;
  for (const char* name : {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TMPDIR", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      result.push_back(std::string(name) + "=" + value);
    }
  }
  if (options.target == Target::cuda) {
    // Where CUPTI may lie, and the tool that is to see this process's NVTX ranges.
    for (const char* name : {"APO_CUPTI_LIBRARY", "CUDA_HOME", "CUDA_PATH", "NVTX_INJECTION64_PATH"}) {
      if (const char* value = std::getenv(name); value != nullptr) {
        result.push_back(std::string(name) + "=" + value);
      }
    }
  }
  // Threads that spin while they wait would take the CPU from the other slot.
  result.insert(result.end(), {"OMP_WAIT_POLICY=passive", "OMP_DYNAMIC=false",
                               fmt::format("OMP_NUM_THREADS={}", options.cpus.size())});
  if (!options.preload.empty()) {
    const std::int64_t megabytes = options.memory_limit_bytes >> 20;
    result.push_back("LD_PRELOAD=" + options.preload);
    result.push_back("ASAN_OPTIONS=detect_leaks=0:color=never:halt_on_error=1:verify_asan_link_order=0:" +
                     fmt::format("hard_rss_limit_mb={}", megabytes));
    result.push_back("TSAN_OPTIONS=halt_on_error=1:color=never:report_signal_unsafe=0:detect_deadlocks=0");
    result.push_back("UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=0:color=never");
  }
  if (!options.watcher.empty()) {
    result.push_back(std::string(kWatchedVariable) + "=1");
  }
  Random random(derive_seed(options.layout_seed, "environment"));
  result.push_back("APO_PADDING=" + std::string(random.below(kMaxPadding + 1), 'x'));
  result.insert(result.end(), options.environment.begin(), options.environment.end());
  return result;
}

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
