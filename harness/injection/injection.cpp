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
#include <string_view>

#include "harness/core/recording_file.h"
#include "harness/injection/nvtx_tool.h"
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
  Ranges ranges;

  std::mutex mutex;  // of all that follows, until `cupti`
  Recorder recorder{&ranges};
  std::int64_t dropped = 0;
  std::string missing;

  std::unique_ptr<const cupti::Library> cupti;
  cupti::Subscriber subscriber = nullptr;
  pid_t owner = 0;  // a fork is not ours to record
  std::string program;
  std::string path;
  std::atomic<bool> recording{false};
  std::atomic<bool> watching{false};  // launches, because there are ranges

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

// At the first range, or at CUDA's start where that comes later.
void watch_launches(Session& self) {
  if (self.recording && !self.watching.exchange(true)) {
    for (const int domain : {cupti::kDriverApi, cupti::kRuntimeApi}) {
      self.cupti->enable_domain(1, self.subscriber, domain);  // where it fails, no work is known to be in a range
    }
  }
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
  self.recording = recording;
  if (self.ranges.used()) {
    watch_launches(self);
  }
  if (recording && std::atexit(finish) == 0) {
    start_writer(self);
  }
}

// ---------------------------------------------------------------- NVTX's callbacks

// Wide texts of names are ASCII nearly always; what is not becomes a question mark.
std::string narrow(const wchar_t* text) {
  std::string narrowed;
  for (; text != nullptr && *text != L'\0' && narrowed.size() < kMostRangeName; ++text) {
    narrowed += *text > 0 && *text < 0x80 ? static_cast<char>(*text) : '?';
  }
  return narrowed;
}

int push_range(const void* domain, std::string_view name) {
  const int error = errno;
  int depth = -1;
  try {
    Session& self = session();
    depth = self.ranges.push(domain, name.empty() ? "(no name)" : name);
    watch_launches(self);
  } catch (const std::exception&) {
    // Out of memory: this range is not told apart from the one that holds it, and its pop ends that one too early.
    errno = error;
  }
  errno = error;
  return depth;
}

int push_attributes(const void* domain, const nvtx::Attributes* attributes) {
  if (attributes == nullptr || attributes->message == nullptr) {
    return push_range(domain, "");
  }
  switch (attributes->message_type) {
    case nvtx::kAscii:
      return push_range(domain, static_cast<const char*>(attributes->message));
    case nvtx::kUnicode:
      return push_range(domain, narrow(static_cast<const wchar_t*>(attributes->message)));
    case nvtx::kRegistered:
      return push_range(domain, *static_cast<const std::string*>(attributes->message));
    default:
      return push_range(domain, "");
  }
}

int push_ex(const nvtx::Attributes* attributes) {
  return push_attributes(nullptr, attributes);
}
int push_ascii(const char* name) {
  return push_range(nullptr, name == nullptr ? "" : name);
}
int push_wide(const wchar_t* name) {
  return push_range(nullptr, narrow(name));
}
int pop() {
  return session().ranges.pop(nullptr);
}
int domain_push(const void* domain, const nvtx::Attributes* attributes) {
  return push_attributes(domain, attributes);
}
int domain_pop(const void* domain) {
  return session().ranges.pop(domain);
}

// A registered text, or a domain, is known by its address. They live as long as the process.
const void* keep_text(const std::string& text) {
  return new (std::nothrow) std::string(text);
}
const void* register_ascii(const void*, const char* text) {
  return keep_text(text == nullptr ? "" : text);
}
const void* register_wide(const void*, const wchar_t* text) {
  return keep_text(narrow(text));
}
const void* create_domain(const char* name) {
  return keep_text(name == nullptr ? "" : name);
}
const void* create_domain_wide(const wchar_t* name) {
  return keep_text(narrow(name));
}

template <class Callback>
void set(nvtx::FunctionTable table, unsigned count, unsigned id, Callback callback) {
  if (id < count && table[id] != nullptr) {
    *table[id] = reinterpret_cast<nvtx::Function>(callback);
  }
}

bool take_over_ranges(const nvtx::CallbackTable& callbacks) {
  nvtx::FunctionTable core = nullptr;
  nvtx::FunctionTable core2 = nullptr;
  unsigned of_core = 0;
  unsigned of_core2 = 0;
  if (callbacks.module_functions(nvtx::kCore, &core, &of_core) == 0 ||
      callbacks.module_functions(nvtx::kCore2, &core2, &of_core2) == 0) {
    return false;
  }
  set(core, of_core, nvtx::kRangePushEx, push_ex);
  set(core, of_core, nvtx::kRangePushA, push_ascii);
  set(core, of_core, nvtx::kRangePushW, push_wide);
  set(core, of_core, nvtx::kRangePop, pop);
  set(core2, of_core2, nvtx::kDomainRangePushEx, domain_push);
  set(core2, of_core2, nvtx::kDomainRangePop, domain_pop);
  set(core2, of_core2, nvtx::kDomainRegisterStringA, register_ascii);
  set(core2, of_core2, nvtx::kDomainRegisterStringW, register_wide);
  set(core2, of_core2, nvtx::kDomainCreateA, create_domain);
  set(core2, of_core2, nvtx::kDomainCreateW, create_domain_wide);
  return true;
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

// What an application's NVTX calls at its first range; 0 means that there is no tool.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(apo::nvtx::GetExportTable get_table) {
  const auto* const callbacks =
      get_table == nullptr ? nullptr : static_cast<const apo::nvtx::CallbackTable*>(get_table(apo::nvtx::kCallbacks));
  const bool usable = callbacks != nullptr && callbacks->size >= sizeof *callbacks;
  return usable && apo::take_over_ranges(*callbacks) ? 1 : 0;
}
