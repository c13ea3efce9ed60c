// harness/core/system/posix_spawn.cpp - one call a line.
#include "harness/core/system/posix_spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "harness/core/error.h"

namespace apo {

PosixSpawn::PosixSpawn(std::string what, pid_t group) : what_(std::move(what)) {
  require(posix_spawn_file_actions_init(&actions_));
  require(posix_spawnattr_init(&attributes_));
  require(posix_spawnattr_setpgroup(&attributes_, group));
}

PosixSpawn::~PosixSpawn() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void PosixSpawn::require(int error) const {
  if (error != 0) {
    throw EnvironmentError("cannot start " + what_ + ": " + std::strerror(error));
  }
}

void PosixSpawn::redirect(int from, int to) {
  require(posix_spawn_file_actions_adddup2(&actions_, from, to));
}

void PosixSpawn::close_from(int first) {
  require(posix_spawn_file_actions_addclosefrom_np(&actions_, first));
}

void PosixSpawn::change_folder(const std::string& folder) {
  require(posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()));
}

void PosixSpawn::set_signal_mask(const sigset_t& mask) {
  require(posix_spawnattr_setsigmask(&attributes_, &mask));
  flags_ |= POSIX_SPAWN_SETSIGMASK;
}

void PosixSpawn::set_default_signals(const sigset_t& defaults) {
  require(posix_spawnattr_setsigdefault(&attributes_, &defaults));
  flags_ |= POSIX_SPAWN_SETSIGDEF;
}

pid_t PosixSpawn::start(const std::string& program, std::vector<std::string> argv,
                        std::vector<std::string> environment) {
  pid_t pid = -1;
  require(try_start(program, std::move(argv), std::move(environment), pid));
  return pid;
}

int PosixSpawn::try_start(const std::string& program, std::vector<std::string> argv,
                          std::vector<std::string> environment, pid_t& pid) {
  const int error = posix_spawnattr_setflags(&attributes_, static_cast<short>(flags_));
  return error != 0 ? error
                    : posix_spawn(&pid, program.c_str(), &actions_, &attributes_, c_strings(argv).data(),
                                  c_strings(environment).data());
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw EnvironmentError(std::string("cannot create a pipe: ") + std::strerror(errno));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

int reap(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// A child that closed its input must not end us by SIGPIPE, nor may the signal's disposition of the program change.
ssize_t write_without_sigpipe(int fd, std::string_view bytes) {
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t wrote = write(fd, bytes.data(), bytes.size());
  const int failure = errno;
  if (wrote < 0 && failure == EPIPE) {
    constexpr timespec kNow{.tv_sec = 0, .tv_nsec = 0};
    sigtimedwait(&pipe_signal, nullptr, &kNow);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = failure;
  return wrote;
}

}  // namespace apo
