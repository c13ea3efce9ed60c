// harness/worker/child/worker_main.cpp - the worker's loop and limits.
#include "harness/worker/child/worker_main.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/worker/child/device.h"
#include "harness/worker/child/host_library.h"
#include "harness/worker/confinement/confinement.h"
#include "harness/worker/protocol/clock.h"
#include "harness/worker/protocol/profile_results.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {
namespace {

constexpr const char* kDeviceCodeOnly = "device code only";

SharedStatus* shared_status = nullptr;
std::atomic<bool> loop_ended{false};

bool is_watched() {
  return std::getenv(kWatchedVariable) != nullptr;
}

// A watched worker is not the child of the parent it serves, and the thread that started it may end at any time, so the
// end of the connection takes the place of the parent-death signal. A loop that is not busy ends by itself first.
void end_with_connection() {
  constexpr std::chrono::seconds kToNotice{2};
  constexpr std::chrono::seconds kToEnd{30};  // with what the watcher does at the exit of a process
  pollfd connection{.fd = kWorkerFd, .events = 0, .revents = 0};
  while (poll(&connection, 1, -1) < 1) {  // interrupted by a signal
  }
  std::this_thread::sleep_for(kToNotice);
  if (loop_ended) {
    std::this_thread::sleep_for(kToEnd);
  }
  kill(getpid(), SIGKILL);
}

void set_up_process() {
  if (is_watched()) {
    std::thread(end_with_connection).detach();
  } else {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the parent is gone already, fd 3 is closed and the loop ends
  }
  constexpr rlimit kNone{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &kNone);  // lowering cannot be refused
  // No RLIMIT_CPU: with one, the kernel updates the process's CPU clock only once a tick, and samples are stamped with
  // it. The parent's deadline bounds the time.
  // The system should end the candidate when memory runs out, never the harness.
  const FileDescriptor score(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score && write(score.get(), "1000", 4) != 4) {
    return;  // a container may forbid it; the memory limit still holds
  }
}

void pin(const std::vector<int>& cpus) {
  if (cpus.empty()) {
    return;
  }
  if (!allow_cpus(cpus)) {
    throw std::runtime_error("cannot pin to the CPUs that were asked for");
  }
  if (cpus.size() == 1) {
    ask_for_slices(kShortSlice);
  }
}

// Leaves a text in the file that came with its request.
Reply left_in_file(const std::string& text, const FileDescriptor& file) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = pwrite(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (wrote <= 0) {
      throw std::runtime_error("cannot write to the parent's file");
    }
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

template <class Report>
Reply left_in_file(const Result<Report>& report, const FileDescriptor& file) {
  return report ? left_in_file(encode(*report), file) : Reply{.failure = report.failure()};
}

// The value as this part of a reply, else the failure.
template <class Value>
Reply reply_of(const Result<Value>& result, Value Reply::*part) {
  Reply reply;
  if (result) {
    reply.*part = *result;
  } else {
    reply.failure = result.failure();
  }
  return reply;
}

class Session {
 public:
  // Serves requests until the parent hangs up; throws on a request that makes no sense.
  void serve();

 private:
  bool receive(Request& request, FileDescriptor& attached);
  void send(const Reply& reply) const;
  void answer_window() const;
  Reply answer(const HelloRequest& hello, const FileDescriptor& attached);
  Reply answer(const LoadRequest& load, const FileDescriptor& attached);
  Reply answer(const AttachRequest& attach, const FileDescriptor& attached) {
    return reply_of(device().attach(attach.layout, attached), &Reply::base);
  }
  Reply answer(const KeepRequest& keep, const FileDescriptor& attached) {
    return reply_of(device().keep(keep.bytes, attached), &Reply::kept);
  }
  Reply answer(const RunRequest& run, const FileDescriptor& attached);
  bool read_back(Reply& reply);
  [[noreturn]] static Reply answer(const ContinueRequest&, const FileDescriptor&) {
    throw std::runtime_error("asked to continue what is not paused");
  }
  Reply answer(const CopyRequest& copy, const FileDescriptor&) {
    return reply_of(device().copy(copy), &Reply::copy_ns);
  }
  Reply answer(const CountRequest& count, const FileDescriptor& attached);
  Reply answer(const SampleRequest& sample, const FileDescriptor& attached) {
    return left_in_file(device().sample_stalls(sample), attached);
  }
  Reply answer(const WatchRequest& watch, const FileDescriptor&) {
    return {.watch_missing = watch.calls ? device().watch_calls() : device().watch_modules()};
  }
  Reply answer(const RecordRequest& record, const FileDescriptor& attached) {
    return left_in_file(device().record(record.slot), attached);
  }
  Reply answer(const ImagesRequest& images, const FileDescriptor& attached) {
    return left_in_file(encode_images(device().loaded_images(images.slot)), attached);
  }
  Reply answer(const InstructionRequest& instructions, const FileDescriptor& attached) {
    return left_in_file(device().count_instructions(instructions), attached);
  }
  bool pause(Reply& reply);
  Device& device() const;

  std::string nonce_;
  std::string confinement_;
  std::string room_;
  bool name_refused_ = false;
  bool in_room_ = false;
  std::unique_ptr<Device> device_;
};

void Session::serve() {
  Request request;
  FileDescriptor attached;
  while (receive(request, attached)) {
    const Reply reply = std::visit([&](const auto& body) { return answer(body, attached); }, request.body);
    attached.reset();  // what the parent has open too is no place for notes
    send(reply);
  }
}

bool Session::receive(Request& request, FileDescriptor& attached) {
  Received received = receive_message(kWorkerFd, kMaxRequest, true);
  while (received.receipt == Receipt::message && received.text == kWindowBegin) {
    answer_window();
    received = receive_message(kWorkerFd, kMaxRequest, true);
  }
  if (received.receipt == Receipt::closed) {
    return false;
  }
  if (received.receipt != Receipt::message) {
    throw std::runtime_error("request too long");
  }
  request = decode_request(received.text);
  attached = std::move(received.attached);
  nonce_ = request.nonce;
  return true;
}

void Session::send(const Reply& reply) const {
  if (shared_status != nullptr && shared_status->ready_ns == 0) {
    shared_status->ready_ns = raw_ns();
  }
  Reply stamped = reply;
  stamped.nonce = nonce_;
  if (!send_message(kWorkerFd, encode(stamped))) {
    _exit(kExitConnectionLost);
  }
}

// The nonce of a failure is that of the last request.
void Session::answer_window() const {
  if (auto failure = device().run_window()) {
    send({.failure = std::move(failure)});
  } else if (!send_message(kWorkerFd, kWindowEnd)) {
    _exit(kExitConnectionLost);
  }
}

Reply Session::answer(const HelloRequest& hello, const FileDescriptor& attached) {
  void* memory = mmap(nullptr, sizeof(SharedStatus), PROT_READ | PROT_WRITE, MAP_SHARED, attached.get(), 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error("cannot map the status page");
  }
  shared_status = static_cast<SharedStatus*>(memory);
  for (const std::string& name : hello.guards_off) {
    switch_off(guard_from(name).value());
  }
  pin(hello.cpus);
  report_fatal_signals(*shared_status, hello.name_refused);
  room_ = hello.room;
  name_refused_ = hello.name_refused;
  if (hello.executor) {
    device_ = make_executor_device(hello.threads, hello.seed, *shared_status);
    return {};
  }
  if (hello.target == Target::host) {
    device_ = make_host_device(hello.threads, *shared_status);
    return {};
  }
  std::string missing;
  device_ = make_cuda_device(hello.device, is_watched(), *shared_status, missing);
  if (device_ == nullptr) {
    return {.failure = Failure{.outcome = Outcome::refused, .evidence = missing}};
  }
  // Not confined until host code is loaded: a device variant brings none that runs in this process.
  confinement_ = kDeviceCodeOnly;
  return {.device = device_->facts()};
}

Reply Session::answer(const LoadRequest& load, const FileDescriptor&) {
  // From here on there may be foreign code in this process.
  if (confinement_.empty()) {
    if (!room_.empty()) {
      load_named_libraries(load.path);
    }
    const Confinement confinement = confine(room_, name_refused_);
    confinement_ = confinement.means;
    in_room_ = confinement.is_in_room;
  } else if (confinement_ == kDeviceCodeOnly && load.plan.library) {
    confinement_ = "host code, " + confine_with_gpu();
  }
  const std::string path = in_room_ ? load.path.substr(room_.size()) : load.path;
  return {.failure = device().load(load.slot, path, load.plan), .confinement = confinement_};
}

// Of the set of the last sample.
bool Session::read_back(Reply& reply) {
  const auto unchanged = device().read_back(reply.samples.back().set);
  if (!unchanged) {
    reply.failure = unchanged.failure();
    return false;
  }
  reply.inputs_unchanged = *unchanged;
  return true;
}

Reply Session::answer(const RunRequest& run, const FileDescriptor&) {
  Reply reply;
  for (std::size_t i = 0; i < run.order.size(); ++i) {
    const auto sample = device().run(run, i);
    if (!sample) {
      reply.failure = sample.failure();
      return reply;
    }
    reply.samples.push_back(*sample);
    const bool verified = static_cast<int>(i) == run.verify_after;
    if ((verified || (run.read_back && i + 1 == run.order.size())) && !read_back(reply)) {
      return reply;
    }
    if (verified && !pause(reply)) {
      return reply;  // the parent hung up, which sending will notice
    }
  }
  reply.state = device().state();
  reply.activity_missing = run.activity ? device().activity_missing() : "";
  return reply;
}

Reply Session::answer(const CountRequest& count, const FileDescriptor& attached) {
  Reply reply = left_in_file(device().count(count), attached);
  if (!reply.failure && count.read_back) {
    if (const auto back = device().read_back(0); !back) {
      reply.failure = back.failure();
    }
  }
  return reply;
}

// False when the parent does not go on.
bool Session::pause(Reply& reply) {
  Request request;
  FileDescriptor attached;
  reply.paused = true;
  send(reply);
  reply.paused = false;
  return receive(request, attached) && std::holds_alternative<ContinueRequest>(request.body);
}

Device& Session::device() const {
  if (device_ == nullptr) {
    throw std::runtime_error("asked to work before hello");
  }
  return *device_;
}

}  // namespace

int worker_main() {
  if (fcntl(kWorkerFd, F_GETFD) < 0) {
    constexpr std::string_view kAlone = "apo worker: started by hand; only apo itself starts workers\n";
    return write(STDERR_FILENO, kAlone.data(), kAlone.size()) > 0 ? 1 : 2;
  }
  set_up_process();
  Session session;
  session.serve();
  loop_ended = true;
  return 0;
}

}  // namespace apo
