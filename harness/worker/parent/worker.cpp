// harness/worker/parent/worker.cpp - starts a worker's process until it is ready for requests, stops its threads, ends
// it.
#include "harness/worker/parent/worker.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/worker/parent/child_process.h"
#include "harness/worker/parent/evidence.h"
#include "harness/worker/protocol/clock.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kStartDeadline{20'000};
constexpr Milliseconds kCudaStartDeadline{120'000};  // the first process on an idle machine wakes up every GPU

Milliseconds start_deadline(const WorkerOptions& options) {
  if (options.start_deadline.count() > 0) {
    return options.start_deadline;
  }
  return options.target == Target::cuda ? kCudaStartDeadline : kStartDeadline;
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
  process_ = std::make_unique<ChildProcess>(command, worker_environment(options_));
  hello_ = prepare(HelloRequest{.cpus = options_.cpus,
                                .threads = static_cast<int>(options_.cpus.size()),
                                .target = options_.target,
                                .device = options_.device,
                                .executor = options_.executor,
                                .seed = options_.layout_seed,
                                .guards_off = guards_off()},
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
  const auto reply = await(*hello_);
  hello_.reset();
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

}  // namespace apo
