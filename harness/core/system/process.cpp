// harness/core/system/process.cpp - fork+exec with captured output, a deadline and no orphans.
#include "harness/core/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/c_strings.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

extern char** environ;

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

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
                         int out, int err, int report, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGXFSZ, SIG_DFL);  // what ignores a signal hands that on
  int failure = 0;
  if (getppid() != parent) {
    _exit(127);  // the parent died before the death signal was armed
  }
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || (*folder != '\0' && chdir(folder) != 0)) {
    failure = errno;
  } else {
    execve(program, argv, environment);
    failure = errno;
  }
  if (write(report, &failure, sizeof failure) < 0) {
    _exit(126);
  }
  _exit(127);
}

// The death signal reaches a child, and not what the child started: a compiler's assembler, say.
// So a process of ours waits in the group for our death, and then ends the group.
class GroupGuard {
 public:
  GroupGuard(pid_t group, pid_t parent) : process_(fork()) {
    if (process_ == 0) {
      watch(group, parent);
    }
    setpgid(process_, group);  // also done by itself: whoever comes first. Without a guard only the child dies with us
  }
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

 private:
  // Only async-signal-safe calls; and no descriptor of ours stays open because of it.
  [[noreturn]] static void watch(pid_t group, pid_t parent) {
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

  pid_t process_;
};

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

void feed(FileDescriptor& fd, std::string_view& input) {
  const ssize_t wrote = write_without_sigpipe(fd.get(), input);
  if (wrote > 0) {
    input.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (input.empty() || (wrote < 0 && errno != EAGAIN && errno != EINTR)) {
    fd.reset();
  }
}

// What is beyond the limit is read all the same, so that the child goes on as it would.
void drain(FileDescriptor& fd, std::string& text, std::size_t limit, bool& cut) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) {
    const auto bytes = static_cast<std::size_t>(got);
    const std::size_t kept = limit == 0 ? bytes : std::min(bytes, limit - text.size());
    text.append(buffer.data(), kept);
    cut = cut || kept < bytes;
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    fd.reset();
  }
}

// Moves data until both outputs are closed or the deadline passes; true when the deadline passed.
bool pump(FileDescriptor& in, FileDescriptor& out, FileDescriptor& err, const ProcessOptions& options,
          ProcessResult& result, Clock::time_point deadline) {
  std::string_view input = options.input;
  while (out || err) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return true;
    }
    std::array<pollfd, 3> fds = {pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0},
                                 pollfd{in.get(), POLLOUT, 0}};
    if (poll(fds.data(), fds.size(), static_cast<int>(std::min<long>(left, 1000))) < 0 && errno != EINTR) {
      return true;
    }
    if (out && fds[0].revents != 0) {
      drain(out, result.output, options.output_limit, result.cut);
    }
    if (err && fds[1].revents != 0) {
      drain(err, result.error, options.output_limit, result.cut);
    }
    if (in && fds[2].revents != 0) {
      feed(in, input);
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const auto runnable = [](const std::string& path) {
    std::error_code error;
    return access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, error);
  };
  if (name.find('/') != std::string::npos) {
    return runnable(name) ? std::optional(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (!folder.empty() && runnable(folder + "/" + name)) {
      return folder + "/" + name;
    }
  }
  return std::nullopt;
}

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  APO_CHECK(!argv.empty());
  const auto program = find_program(argv.front());
  if (!program) {
    throw EnvironmentError("cannot find the program '" + argv.front() + "' in PATH");
  }
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> argument_pointers = c_strings(arguments);
  const std::vector<char*> environment_pointers = c_strings(environment);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe report = make_pipe();
  const auto start = Clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw EnvironmentError("cannot start '" + argv.front() + "': " + std::strerror(errno));
  }
  if (child == 0) {
    become(program->c_str(), argument_pointers.data(), environment_pointers.data(), options.working_folder.c_str(),
           in.read.get(), out.write.get(), err.write.get(), report.write.get(), parent);
  }
  in.read.reset();
  out.write.reset();
  err.write.reset();
  report.write.reset();
  setpgid(child, child);  // also done by the child: whoever comes first
  std::optional<GroupGuard> guard(std::in_place, child, parent);
  int failure = 0;
  const bool failed = read(report.read.get(), &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure);
  for (const int fd : {in.write.get(), out.read.get(), err.read.get()}) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  if (options.input.empty()) {
    in.write.reset();
  }
  const auto deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout_s));
  ProcessResult result;
  result.timed_out = pump(in.write, out.read, err.read, options, result, deadline);
  if (result.timed_out) {
    kill(-child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.seconds = seconds_since(start);
  kill(-child, SIGKILL);  // whatever it left behind, and the guard
  guard.reset();
  if (failed) {
    throw EnvironmentError("cannot start '" + argv.front() + "': " + std::strerror(failure));
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* meaning = sigdescr_np(signal);
  if (name == nullptr || meaning == nullptr) {
    return "signal " + std::to_string(signal);
  }
  return std::string("SIG") + name + " (" + meaning + ")";
}

}  // namespace apo
