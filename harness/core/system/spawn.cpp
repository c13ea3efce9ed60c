// harness/core/system/spawn.cpp - fork+exec without orphans.
#include "harness/core/system/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>

#include "harness/core/error.h"
#include "harness/core/system/c_strings.h"

extern char** environ;

namespace apo {
namespace {

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw EnvironmentError(std::string("cannot create a pipe: ") + std::strerror(errno));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(additions.begin(), additions.end(),
                                      [&](const std::string& addition) { return addition.starts_with(name); });
    if (!replaced) {
      merged.emplace_back(text);
    }
  }
  merged.insert(merged.end(), additions.begin(), additions.end());
  return merged;
}

// Only async-signal-safe calls from here to exec.
[[noreturn]] void become(const char* program, char* const* argv, char* const* environment, const char* folder, int in,
                         int out, int err, int report, pid_t parent, bool bound_to_thread) {
  setpgid(0, 0);
  if (bound_to_thread) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  std::signal(SIGXFSZ, SIG_DFL);  // what ignores a signal hands that on
  int failure = 0;
  if (getppid() != parent) {
    _exit(127);  // the parent died before the death signal was armed
  }
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || (*folder != '\0' && chdir(folder) != 0)) {
    failure = errno;
  }
  execute(program, argv, environment, failure, report);
}

// The death signal reaches a child, and not what the child started: a compiler's assembler, say.
// So a process of ours waits in the group for our death, and then ends the group.
// Only async-signal-safe calls; and no descriptor of ours stays open because of it.
[[noreturn]] void watch(pid_t group, pid_t parent) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setpgid(0, group);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  closefrom(0);
  sigset_t death;
  sigemptyset(&death);
  sigaddset(&death, SIGTERM);
  while (getppid() == parent) {
    sigwaitinfo(&death, nullptr);
  }
  kill(-group, SIGKILL);
  _exit(0);
}

int reap(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void execute(const char* program, char* const* argv, char* const* environment, int failure, int report) {
  if (failure == 0) {
    execve(program, argv, environment);
    failure = errno;
  }
  if (write(report, &failure, sizeof failure) < 0) {
    _exit(126);
  }
  _exit(127);
}

GroupGuard::GroupGuard(pid_t group, pid_t parent) : process_(fork()) {
  if (process_ == 0) {
    watch(group, parent);
  }
  setpgid(process_, group);  // also done by itself: whoever comes first. Without a guard only the child dies with us
}

GroupGuard::~GroupGuard() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    reap(process_);
  }
}

SpawnedProcess::SpawnedProcess(const std::string& program, const std::vector<std::string>& argv,
                               const SpawnOptions& options) {
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> argument_pointers = c_strings(arguments);
  const std::vector<char*> environment_pointers = c_strings(environment);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe report = make_pipe();
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    throw EnvironmentError("cannot start '" + argv.front() + "': " + std::strerror(errno));
  }
  if (pid_ == 0) {
    become(program.c_str(), argument_pointers.data(), environment_pointers.data(), options.working_folder.c_str(),
           in.read.get(), out.write.get(), err.write.get(), report.write.get(), parent, options.bound_to_thread);
  }
  report.write.reset();
  setpgid(pid_, pid_);  // also done by the child: whoever comes first
  if (options.guarded) {
    guard_.emplace(pid_, parent);
  }
  int failure = 0;
  if (read(report.read.get(), &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure)) {
    end(false);
    throw EnvironmentError("cannot start '" + argv.front() + "': " + std::strerror(failure));
  }
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const int fd : {in_.get(), out_.get(), err_.get()}) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
}

SpawnedProcess::~SpawnedProcess() {
  if (pid_ > 0) {
    end(true);
  }
}

std::vector<pid_t> SpawnedProcess::pids() const {
  return guard_ ? std::vector<pid_t>{pid_, guard_->pid()} : std::vector<pid_t>{pid_};
}

int SpawnedProcess::end(bool now) {
  if (now) {
    kill(-pid_, SIGKILL);
  }
  const int status = reap(pid_);
  kill(-pid_, SIGKILL);  // whatever it left behind, and the guard
  guard_.reset();
  pid_ = -1;
  return status;
}

int SpawnedProcess::end_within(std::chrono::milliseconds patience) {
  const FileDescriptor end_of_process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));  // none: killed below
  pollfd ended{end_of_process.get(), POLLIN, 0};
  return end(poll(&ended, 1, static_cast<int>(patience.count())) != 1);
}

// A child that closed its input must not end us by SIGPIPE, nor may the signal's disposition of the program change.
bool drain(const FileDescriptor& pipe, std::string& text) {
  constexpr int kMostReads = 64;
  std::array<char, 65536> buffer;
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t got = read(pipe.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return true;
}

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
