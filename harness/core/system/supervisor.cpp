// harness/core/system/supervisor.cpp - a subreaper that waits for all of its children, and kills them when it is told
// to.
#include "harness/core/system/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/orphans.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

// Where the supervisor has them.
constexpr int kLifeline = 0;
constexpr int kReport = 1;
constexpr int kFirstOther = 2;

// Nobody reads it where our starter has died: then all is ended anyway.
void tell(const std::vector<std::int64_t>& numbers) {
  static_cast<void>(write_without_sigpipe(
      kReport, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers.front()}));
}

sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

// Takes note of all that have ended. False when nobody is left.
bool reap_all(pid_t program, bool& program_ended) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended == program) {
      program_ended = true;
      tell({status});
    }
  }
  return ended == 0;
}

// Returns how many were killed when the program had ended. One generation after the other: what has lost its parent
// becomes a child of ours.
std::size_t wait_for_all(pid_t program) {
  constexpr int kForever = -1;
  constexpr double kPatienceS = 5;  // then it is another user's, or the kernel does not let go of it
  constexpr int kBetweenGenerationsMs = 1;
  const sigset_t child_ended = only(SIGCHLD);
  const FileDescriptor ended(signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
  std::array<pollfd, 2> watched = {{{ended.get(), POLLIN, 0}, {kLifeline, POLLIN, 0}}};
  bool program_ended = false;
  std::size_t left_behind = 0;
  std::optional<Clock::time_point> killing;  // since then
  while (reap_all(program, program_ended)) {
    if (killing && seconds_since(*killing) > kPatienceS) {
      break;
    }
    if (killing) {
      for (const pid_t child : children_of_ours()) {
        kill(child, SIGKILL);
      }
    }
    poll(watched.data(), watched.size(), killing ? kBetweenGenerationsMs : kForever);
    signalfd_siginfo one;
    while (read(ended.get(), &one, sizeof one) > 0) {
    }
    if (!killing && watched[1].revents != 0) {
      killing = Clock::now();
      watched[1].fd = -1;
      reap_all(program, program_ended);
      left_behind = program_ended ? children_of_ours().size() : 0;
    }
  }
  return left_behind;
}

// In the child of a fork, where glibc lets memory be allocated. All signals are blocked.
[[noreturn]] void supervise(PosixSpawn& spawn, const std::string& program, const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment, const Pipe& lifeline, const Pipe& report) {
  setpgid(0, 0);
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody could be waited for
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t pid = -1;
  const Clock::time_point start = Clock::now();
  const int failure = spawn.try_start(program, argv, environment, pid);
  dup2(lifeline.read.get(), kLifeline);
  dup2(report.write.get(), kReport);
  closefrom(kFirstOther);
  tell({failure});
  if (failure == 0) {
    const auto left_behind = static_cast<std::int64_t>(wait_for_all(pid));
    tell({left_behind, std::chrono::nanoseconds(Clock::now() - start).count()});
  }
  _exit(0);
}

}  // namespace

Supervised start_supervised(PosixSpawn& spawn, const std::string& program, const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment) {
  Pipe lifeline = make_pipe();
  Pipe report = make_pipe();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // our handlers are not the supervisor's
  spawn.set_signal_mask(before);
  const pid_t supervisor = fork();
  std::int64_t failure = errno;
  if (supervisor == 0) {
    supervise(spawn, program, argv, environment, lifeline, report);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  report.write.reset();
  if (supervisor > 0) {
    ssize_t got = 0;
    while ((got = read(report.read.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
    }
    failure = got == sizeof failure ? failure : ECHILD;  // it was killed
  }
  if (failure != 0) {
    if (supervisor > 0) {
      reap(supervisor);
    }
    throw EnvironmentError("cannot start '" + argv.front() + "': " + std::strerror(static_cast<int>(failure)));
  }
  fcntl(report.read.get(), F_SETFL, O_NONBLOCK);
  return {.supervisor = supervisor, .lifeline = std::move(lifeline.write), .report = std::move(report.read)};
}

}  // namespace apo
