// harness/injection/injection.cpp - the library that the CUDA driver loads into a profiled application.
//
// The driver loads what CUDA_INJECTION64_PATH names when it starts, and calls InitializeInjection. From there on CUPTI
// hands over records of kernels, copies and fills; a thread of ours writes their sums to a file of this process every
// 50 ms, because a process that leaves by _exit or by a signal runs no exit handler.
//
// This is a guest: it prints nothing, throws nothing, leaves errno and signals alone, and gives up silently (the file
// says why) rather than disturb its host.
//
// Where APO_RECORD says what is wanted, "kernel K NAME" or "range NAME", it writes that call down instead, with the
// memory that the call finds.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

#include "harness/core/applications/process_times_file.h"
#include "harness/injection/session.h"
#include "harness/worker/cupti/cupti.h"

namespace apo {
namespace {

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

constexpr long kPeriodNs = 50'000'000;
constexpr long kNsPerSecond = 1'000'000'000;
constexpr long kMostShareOfACore = 20;  // writing takes at most one part in so many
constexpr long kPatienceS = 2;          // for our thread to end, before the process does

// Whole or not at all, and nothing where it cannot be written: the reader says what is missing.
void write_whole(const std::string& path, const std::string& text) {
  const std::string partial = path + ".partial";
  const int fd = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) {
    return;
  }
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) {
      break;
    }
    done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
  }
  if (close(fd) == 0 && done == text.size()) {
    rename(partial.c_str(), path.c_str());
  } else {
    unlink(partial.c_str());
  }
}

timespec after(long ns) {
  timespec when{};
  clock_gettime(CLOCK_REALTIME, &when);
  ns += when.tv_nsec;
  return {.tv_sec = when.tv_sec + ns / kNsPerSecond, .tv_nsec = ns % kNsPerSecond};
}

long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// True when the process ends.
bool wait_to_stop(Session& self, long ns) {
  const timespec until = after(ns);
  const std::lock_guard lock(self.stop_mutex);
  int status = 0;
  while (!self.stopping && status == 0) {
    status = pthread_cond_timedwait(&self.stop, self.stop_mutex.native_handle(), &until);
  }
  return self.stopping;
}

// Writes nothing when no record came since the last time, unless the recording is complete.
void write_recording(Session& self, bool complete) {
  ProcessTimes recording;
  {
    const std::lock_guard lock(self.mutex);
    if (!complete && self.recorder.records() == self.written) {
      return;
    }
    self.written = self.recorder.records();
    recording = self.recorder.summary();
    recording.dropped = self.dropped;
    recording.missing = self.missing;
  }
  recording.pid = self.owner;
  recording.parent = getppid();
  recording.program = self.program;
  recording.library = self.cupti == nullptr ? "" : self.cupti->path + " " + std::to_string(self.cupti->version);
  recording.complete = complete;
  write_whole(self.path, encode_times(recording));
}

void* write_until_stopped(void*) {
  Session& self = session();
  long pause = kPeriodNs;
  while (!wait_to_stop(self, pause)) {
    if (!self.buffer_asked) {
      continue;  // the driver may still be starting, and flushing has no business there
    }
    self.cupti->flush_all(0);  // only what is complete; an error shows in what the file lacks
    const long begin = now_ns();
    try {
      write_recording(self, false);
    } catch (const std::exception&) {
      return nullptr;  // out of memory: the exit handler tries once more
    }
    pause = std::max(kPeriodNs, kMostShareOfACore * (now_ns() - begin));
  }
  return nullptr;
}

// Puts the start time in the file's name: a process may become another program and keep its id.
std::string recording_path(const char* folder, pid_t process, const char* extension) {
  return std::string(folder) + "/" + std::to_string(process) + "-" + std::to_string(now_ns()) + extension;
}

// Writes every 50 ms, or more seldom where writing takes long.
void start_writer(Session& self) {
  const SignalsBlocked blocked;  // inherited by the thread: the host's handlers never run there
  self.writing = pthread_create(&self.writer, nullptr, write_until_stopped, nullptr) == 0;
}

// Returns false when it hangs in CUPTI, which must then be left alone.
bool stop_writer(Session& self) {
  if (!self.writing) {
    return true;
  }
  {
    const std::lock_guard lock(self.stop_mutex);
    self.stopping = true;
    pthread_cond_signal(&self.stop);
  }
  const timespec until = after(kPatienceS * kNsPerSecond);
  return pthread_timedjoin_np(self.writer, nullptr, &until) == 0;
}

std::string command_line() {
  std::string text(400, '\0');
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? 0 : read(fd, text.data(), text.size());
  if (fd >= 0) {
    close(fd);
  }
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

void finish() {
  Session& self = session();
  if (self.owner != getpid()) {
    return;
  }
  const SignalsBlocked blocked;
  as_guest([&] {  // out of memory while the process ends: the last file that was written stays
    if (stop_writer(self)) {
      self.cupti->flush_all(cupti::kFlushForced);
      write_recording(self, true);
    }
  });
}

// "kernel K NAME" or "range NAME".
WantedCall wanted_call(std::string_view text, const std::string& program) {
  constexpr std::string_view kKernel = "kernel ";
  constexpr std::string_view kRange = "range ";
  WantedCall wanted{.program = program};
  if (text.starts_with(kKernel)) {
    text.remove_prefix(kKernel.size());
    const std::size_t blank = std::min(text.find(' '), text.size());
    wanted.nth = std::strtol(std::string(text.substr(0, blank)).c_str(), nullptr, 10);
    wanted.kernel = text.substr(std::min(blank + 1, text.size()));
  } else if (text.starts_with(kRange)) {
    wanted.range = text.substr(kRange.size());
  }
  return wanted;
}

void write_call(const ProgramCall& call) {
  const SignalsBlocked blocked;
  write_whole(session().path, encode(call));
}

void record_call(Session& self, const char* wanted) {
  if (const std::string missing = self.calls.start(wanted_call(wanted, self.program), write_call); !missing.empty()) {
    write_call({.program = self.program, .refusal = missing});
  } else {
    // Replaced when the call is over, or by the exit handler.
    write_call({.program = self.program, .refusal = "the program was ended before the call was over"});
    std::atexit([] {
      if (session().owner == getpid()) {
        CallRecorder::give_up();
      }
    });
  }
}

void initialize(const char* folder) {
  Session& self = session();
  if (self.owner != 0) {
    return;
  }
  self.owner = getpid();
  self.program = command_line();
  if (const char* const wanted = std::getenv("APO_RECORD"); wanted != nullptr) {
    self.path = recording_path(folder, self.owner, ".call");
    record_call(self, wanted);
    return;
  }
  self.path = recording_path(folder, self.owner, ".times");
  const bool recording = start_recording(self);
  {
    const SignalsBlocked blocked;
    write_recording(self, !recording);
  }
  self.recording = recording;
  if (self.ranges.used()) {
    watch_launches(self);
  }
  if (recording && std::atexit(finish) == 0) {
    start_writer(self);
  }
}

}  // namespace

namespace {

constexpr int kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kPeerMemcpy, cupti::kMemset};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  const int error = errno;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(cupti::kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
  session().buffer_asked = true;
  errno = error;
}

void add_records(Session& self, std::uint8_t* buffer, std::size_t valid_bytes) {
  const std::lock_guard lock(self.mutex);
  self.recorder.forget_names();
  cupti::RecordBytes record = nullptr;
  while (self.cupti->next_record(buffer, valid_bytes, &record) == cupti::kSuccess) {
    self.recorder.add(record);
  }
  std::size_t dropped = 0;
  if (self.cupti->dropped_records(nullptr, 0, &dropped) == cupti::kSuccess) {
    self.dropped += static_cast<std::int64_t>(dropped);
  }
}

void complete_buffer(cupti::Context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  const int error = errno;
  Session& self = session();
  try {
    if (buffer != nullptr && valid_bytes > 0 && self.owner == getpid()) {
      add_records(self, buffer, valid_bytes);
    }
  } catch (const std::exception&) {
    // Out of memory: the rest of this buffer is lost, and the file must not claim to be whole.
    const std::lock_guard lock(self.mutex);
    self.dropped += 1;
  }
  std::free(buffer);
  errno = error;
}

// Launches, copies and fills of the driver and of the runtime; of the rest nothing is recorded.
bool starts_work(const char* function) {
  const std::string_view name = function == nullptr ? "" : function;
  const std::string_view call = name.substr(name.starts_with("cuda") ? 4 : std::min<std::size_t>(2, name.size()));
  return call.starts_with("Launch") || call.starts_with("Mem") || call.starts_with("GraphLaunch");
}

// Only asked for once there are ranges. A call of the runtime makes one of the driver, and CUPTI names the record after
// one of the two.
void note_launch(void*, int domain, std::uint32_t, const void* data) {
  const auto* const call = static_cast<const cupti::CallbackData*>(data);
  const bool enters = (domain == cupti::kDriverApi || domain == cupti::kRuntimeApi) && call->site == cupti::kEnter;
  if (enters && starts_work(call->function)) {
    session().ranges.launched(call->correlation);
  }
}

bool check(Session& self, cupti::Result result, const char* what) {
  if (result != cupti::kSuccess) {
    self.missing = std::string(what) + ": " + cupti::describe(*self.cupti, result);
  }
  return result == cupti::kSuccess;
}

}  // namespace

bool start_recording(Session& self) {
  self.cupti = cupti::load_library(self.missing);
  if (self.cupti == nullptr) {
    return false;
  }
  const cupti::Result subscribed = self.cupti->subscribe(&self.subscriber, note_launch, nullptr);
  if (!check(self, subscribed,
             subscribed == cupti::kMultipleSubscribers ? "another profiler watches this process"
                                                       : "CUPTI does not start")) {
    return false;
  }
  if (!check(self, self.cupti->register_callbacks(request_buffer, complete_buffer), "CUPTI takes no buffers")) {
    self.cupti->unsubscribe(self.subscriber);
    return false;
  }
  for (const int kind : kKinds) {
    if (!check(self, self.cupti->enable(kind), "CUPTI does not record kernels")) {
      for (const int enabled : kKinds) {
        self.cupti->disable(enabled);  // refused for those that never were
      }
      self.cupti->unsubscribe(self.subscriber);
      return false;
    }
  }
  return true;
}

void watch_launches(Session& self) {
  if (self.recording && !self.watching.exchange(true)) {
    for (const int domain : {cupti::kDriverApi, cupti::kRuntimeApi}) {
      self.cupti->enable_domain(1, self.subscriber, domain);  // where it fails, no work is known to be in a range
    }
  }
}

}  // namespace apo

// What the driver calls; not 0 means that all is well, and it goes on in any case.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* folder = std::getenv("APO_TIMES");
  apo::as_guest([&] {  // out of memory: the application runs on without being profiled
    if (folder != nullptr && *folder == '/') {
      apo::initialize(folder);
    }
  });
  return 1;
}
