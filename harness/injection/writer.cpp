// harness/injection/writer.cpp - writes whole files or none, at a small share of a core.
#include "harness/injection/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <exception>
#include <mutex>

#include "harness/core/recording/recording_file.h"
#include "harness/injection/signals_blocked.h"

namespace apo {
namespace {

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

}  // namespace

std::string recording_path(const char* folder, pid_t process) {
  return std::string(folder) + "/" + std::to_string(process) + "-" + std::to_string(now_ns()) + ".recording";
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

void start_writer(Session& self) {
  const SignalsBlocked blocked;  // inherited by the thread: the host's handlers never run there
  self.writing = pthread_create(&self.writer, nullptr, write_until_stopped, nullptr) == 0;
}

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

}  // namespace apo
