// harness/injection/injection.cpp - the library that the CUDA driver loads into a profiled application.
//
// The driver loads what CUDA_INJECTION64_PATH names when it starts, and calls InitializeInjection. From there on CUPTI
// hands over records of kernels, copies and fills; a thread of ours writes their sums to a file of this process every
// 50 ms, because a process that leaves by _exit or by a signal runs no exit handler.
//
// This is a guest: it prints nothing, throws nothing, leaves errno and signals alone, and gives up silently (the file
// says why) rather than disturb its host.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>

#include "harness/injection/cupti_recording.h"
#include "harness/injection/session.h"
#include "harness/injection/signals_blocked.h"
#include "harness/injection/writer.h"

namespace apo {
namespace {

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

void initialize(const char* folder) {
  Session& self = session();
  if (self.owner != 0) {
    return;
  }
  self.owner = getpid();
  self.program = command_line();
  self.path = recording_path(folder, self.owner);
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
