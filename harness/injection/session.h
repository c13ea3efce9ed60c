// harness/injection/session.h - the state that the injected library keeps in its process.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "harness/injection/recorder.h"
#include "harness/worker/cupti/cupti.h"
#include "harness/worker/recorder/call_recorder.h"

namespace apo {

// Never destroyed: CUPTI's callbacks and our thread may still run while the process ends.
struct Session {
  Ranges ranges;

  std::mutex mutex;  // of all that follows, until `cupti`
  Recorder recorder{&ranges};
  std::int64_t dropped = 0;
  std::string missing;

  std::unique_ptr<const cupti::Library> cupti;
  cupti::Subscriber subscriber = nullptr;
  CallRecorder calls;  // in place of sums, where one call is to be written down
  pid_t owner = 0;     // a fork is not ours to record
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

inline Session& session() {
  static auto* const kSession = new Session;
  return *kSession;
}

// Does something in the host's thread: errno stays, and where memory is out it is left half done.
template <class Work>
void as_guest(const Work& work) {
  const int error = errno;
  try {
    work();
  } catch (const std::exception&) {
    errno = error;
  }
  errno = error;
}

// Subscribing comes first: it fails while another profiler watches this process, whose records would be disturbed.
// False, and why in the session, when there is nothing to record with.
bool start_recording(Session& self);

// At the first range, or at CUDA's start where that comes later.
void watch_launches(Session& self);

}  // namespace apo
