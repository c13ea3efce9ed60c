// harness/core/system/foreground.cpp - fork and exec without pipes, terminal signals, no orphans.
#include "harness/core/system/foreground.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/orphans.h"
#include "harness/core/system/posix_spawn.h"
#include "harness/core/system/process.h"
#include "harness/core/system/subprocess.h"

namespace apo {
namespace {

volatile std::sig_atomic_t child_to_tell = 0;

void pass_on(int signal) {
  if (child_to_tell > 0) {
    kill(child_to_tell, signal);
  }
}

// Passes signals of the terminal, and a request to end, to the command; restores them when it goes. One that comes
// before deliver() waits: the command may run before its number is known here.
class SignalsForChild {
 public:
  SignalsForChild() {
    sigset_t passed;
    sigemptyset(&passed);
    for (const int signal : kSignals) {
      sigaddset(&passed, signal);
    }
    pthread_sigmask(SIG_BLOCK, &passed, &mask_before_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      const bool terminal = kSignals[i] == SIGINT || kSignals[i] == SIGQUIT;
      action.sa_handler = terminal ? SIG_IGN : pass_on;
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  ~SignalsForChild() { restore(); }
  void deliver() const { pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;
  // Also in the child, before exec.
  void restore() const {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
    deliver();
  }

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 4> before_{};
  sigset_t mask_before_{};
};

// Only async-signal-safe calls from here to exec, which leaves the errno of a failure in `report`.
[[noreturn]] void become(const char* program, char* const* argv, char* const* environment, bool output_to_stderr,
                         const SignalsForChild& signals, int report, pid_t parent) {
  signals.restore();
  std::signal(SIGXFSZ, SIG_DFL);  // what ignores a signal hands that on
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int failure = 0;
  if (getppid() != parent) {
    _exit(127);  // the parent died before the death signal was armed
  }
  if (output_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    failure = errno;
  }
  if (failure == 0) {
    execve(program, argv, environment);
    failure = errno;
  }
  _exit(write(report, &failure, sizeof failure) < 0 ? 126 : 127);
}

}  // namespace

ProcessResult run_foreground(const std::vector<std::string>& argv, const ForegroundOptions& options) {
  APO_CHECK(!argv.empty());
  const auto program = find_program(argv.front());
  if (!program) {
    throw UserError("there is no program '" + argv.front() + "' to run",
                    "give a path, or a name that PATH has; the command stands after '--'");
  }
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> argument_pointers = c_strings(arguments);
  const std::vector<char*> environment_pointers = c_strings(environment);
  Pipe report = make_pipe();
  const Orphans orphans;
  const SignalsForChild signals;
  const auto start = std::chrono::steady_clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw EnvironmentError("cannot start '" + argv.front() + "': " + std::strerror(errno));
  }
  if (child == 0) {
    become(program->c_str(), argument_pointers.data(), environment_pointers.data(), options.output_to_stderr, signals,
           report.write.get(), parent);
  }
  child_to_tell = child;
  signals.deliver();
  report.write.reset();
  int failure = 0;
  ssize_t got = 0;
  do {
    got = read(report.read.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  const int status = reap(child);
  child_to_tell = 0;
  const double seconds = seconds_since(start);
  if (got == static_cast<ssize_t>(sizeof failure)) {
    throw UserError("cannot start '" + argv.front() + "': " + std::strerror(failure),
                    "the command stands after '--' and has to be an executable file");
  }
  ProcessResult result = ended_with(status);
  result.seconds = seconds;
  result.left_behind = orphans.end_all({child});
  return result;
}

}  // namespace apo
