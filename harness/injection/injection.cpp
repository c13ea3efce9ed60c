// harness/injection/injection.cpp - the library that the CUDA driver loads into a profiled application.
//
// The driver loads what CUDA_INJECTION64_PATH names when it starts, and calls InitializeInjection. From there on CUPTI
// hands over records of kernels, copies and fills; a thread of ours writes their sums to a file of this process every
// 50 ms, because a process that leaves by _exit or by a signal runs no exit handler.
//
// This is a guest: it prints nothing, throws nothing, leaves errno and signals alone, and gives up silently (the file
// says why) rather than disturb its host.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "harness/core/recording_file.h"
#include "harness/injection/recorder.h"
#include "harness/worker/cupti.h"
#include "harness/worker/cupti_records.h"

namespace apo {
namespace {

constexpr int kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kPeerMemcpy, cupti::kMemset};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr long kPeriodNs = 50'000'000;
constexpr long kNsPerSecond = 1'000'000'000;
constexpr long kMostShareOfACore = 20;  // writing takes at most one part in so many
constexpr long kPatienceS = 2;          // for our thread to end, before the process does

// CUPTI's callbacks and our thread may still run while the process ends: it is never destroyed.
struct Session {
  std::mutex mutex;  // of all that follows, until `cupti`
  Recorder recorder;
  std::int64_t dropped = 0;
  std::string missing;

  std::unique_ptr<const cupti::Library> cupti;
  cupti::Subscriber subscriber = nullptr;
  pid_t owner = 0;  // a fork is not ours to record
  std::string program;
  std::string path;

  std::atomic<bool> buffer_asked{false};  // CUPTI has something to hand over

  pthread_t writer{};
  bool writing = false;
  std::mutex stop_mutex;
  pthread_cond_t stop = PTHREAD_COND_INITIALIZER;
  bool stopping = false;
  std::int64_t written = -1;  // records in the file; of the writer, then of the exit handler
};

Session& session() {
  static auto* const kSession = new Session;
  return *kSession;
}

// While it lives, no handler of the host runs on this thread, and none of the signals that writing can raise ends it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    // A write beyond the host's limit of a file's size left this one pending: unblocked, it would end the host.
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

void write_recording(Session& self, bool complete) {
  ProcessRecording recording;
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
  write_whole(self.path, encode_recording(recording));
}

// ---------------------------------------------------------------- CUPTI's callbacks

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

void ignore_callback(void*, int, std::uint32_t, const void*) {}

// ---------------------------------------------------------------- our thread

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

void start_writer(Session& self) {
  const SignalsBlocked blocked;  // inherited by the thread: the host's handlers never run there
  self.writing = pthread_create(&self.writer, nullptr, write_until_stopped, nullptr) == 0;
}

// False when it hangs in CUPTI, which must then be left alone.
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

void finish() {
  Session& self = session();
  if (self.owner != getpid()) {
    return;
  }
  const int error = errno;
  const SignalsBlocked blocked;
  try {
    if (stop_writer(self)) {
      self.cupti->flush_all(cupti::kFlushForced);
      write_recording(self, true);
    }
  } catch (const std::exception&) {
    // Out of memory while the process ends: the last file that was written stays.
    errno = error;
  }
  errno = error;
}

// ---------------------------------------------------------------- the start

bool check(Session& self, cupti::Result result, const char* what) {
  if (result != cupti::kSuccess) {
    self.missing = std::string(what) + ": " + cupti::describe(*self.cupti, result);
  }
  return result == cupti::kSuccess;
}

// Subscribing comes first: it fails while another profiler watches this process, whose records would be disturbed.
bool start_recording(Session& self) {
  self.cupti = cupti::load_library(self.missing);
  if (self.cupti == nullptr) {
    return false;
  }
  const cupti::Result subscribed = self.cupti->subscribe(&self.subscriber, ignore_callback, nullptr);
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

void initialize(const char* folder) {
  Session& self = session();
  if (self.owner != 0) {
    return;
  }
  self.owner = getpid();
  self.program = command_line();
  // A process may become another program and keep its id: the time tells their files apart.
  self.path = std::string(folder) + "/" + std::to_string(self.owner) + "-" + std::to_string(now_ns()) + ".recording";
  const bool recording = start_recording(self);
  {
    const SignalsBlocked blocked;
    write_recording(self, !recording);
  }
  if (recording && std::atexit(finish) == 0) {
    start_writer(self);
  }
}

}  // namespace
}  // namespace apo

// What the driver calls; not 0 means that all is well, and it goes on in any case.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const int error = errno;
  const char* folder = std::getenv("APO_RECORDINGS");
  try {
    if (folder != nullptr && *folder == '/') {
      apo::initialize(folder);
    }
  } catch (const std::exception&) {
    // Out of memory: the application runs on without being profiled.
    errno = error;
  }
  errno = error;
  return 1;
}
