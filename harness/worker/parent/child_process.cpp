// harness/worker/parent/child_process.cpp - posix_spawn, poll, kill and wait.
#include "harness/worker/parent/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/core/error.h"
#include "harness/core/system/posix_spawn.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kKeptOutput = 32 * 1024;

void require(int error, const char* what) {
  if (error != 0) {
    throw EnvironmentError(std::string("cannot start a worker: ") + what + ": " + std::strerror(error));
  }
}

// The child's descriptors 0 to 3 are made from these, so that none of them may be one of 0 to 3 itself.
FileDescriptor above_standard(int fd) {
  constexpr int kFirst = 10;
  const FileDescriptor old(fd);
  FileDescriptor moved(fcntl(old.get(), F_DUPFD_CLOEXEC, kFirst));
  require(moved ? 0 : errno, "descriptor");
  return moved;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0 ? 0 : errno, "socket");
  socket_ = FileDescriptor(ends[0]);
  const FileDescriptor their_socket = above_standard(ends[1]);
  require(pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe");
  output_ = FileDescriptor(ends[0]);
  const FileDescriptor their_output = above_standard(ends[1]);
  require(fcntl(output_.get(), F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "pipe");
  require(pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe");
  const FileDescriptor no_input = above_standard(ends[0]);  // not /dev/null, with which others could find notes
  const FileDescriptor closed_at_once(ends[1]);

  // Own group, no inherited signal mask, no inherited handlers.
  PosixSpawn spawn("a worker: " + argv.front(), 0);
  spawn.redirect(no_input.get(), 0);
  spawn.redirect(their_output.get(), 1);
  spawn.redirect(their_output.get(), 2);
  spawn.redirect(their_socket.get(), kWorkerFd);
  spawn.close_from(kWorkerFd + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  spawn.set_signal_mask(none);
  spawn.set_default_signals(all);
  pid_ = spawn.start(argv.front(), argv, environment);
  // Without it (Linux before 5.3) the closed socket tells the same a little later.
  pid_file_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

ChildProcess::Event ChildProcess::wait(Clock::time_point deadline, const std::stop_token& stop) {
  const long look_after_ms = stop.stop_possible() ? 20 : 60'000;
  while (true) {
    if (stop.stop_requested()) {
      throw Cancelled();
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return Event::deadline;
    }
    std::array<pollfd, 3> fds = {pollfd{socket_.get(), POLLIN, 0}, pollfd{pid_file_.get(), POLLIN, 0},
                                 pollfd{output_.get(), POLLIN, 0}};
    if (poll(fds.data(), fds.size(), static_cast<int>(std::min<long>(left, look_after_ms))) < 0) {
      continue;  // interrupted by a signal of ours
    }
    if (fds[2].revents != 0) {
      collect_output();
    }
    // A message that was sent before the end still counts.
    if ((fds[0].revents & POLLIN) != 0) {
      std::array<char, 1> first{};
      const bool something = recv(socket_.get(), first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT) > 0;
      return something ? Event::message : Event::hung_up;
    }
    if (fds[1].revents != 0) {
      return Event::exited;
    }
    if (fds[0].revents != 0) {
      return Event::hung_up;
    }
  }
}

bool ChildProcess::wait_for_exit(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  siginfo_t info{};
  while (alive() && Clock::now() < deadline) {
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
      return true;
    }
    std::array<pollfd, 2> fds = {pollfd{pid_file_.get(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0}};
    poll(fds.data(), fds.size(), 10);  // an error only means that the loop looks again
    if (fds[1].revents != 0) {
      collect_output();
    }
  }
  return !alive();
}

bool ChildProcess::collect_output() {
  std::array<char, 65536> buffer;
  const ssize_t got = read(output_.get(), buffer.data(), buffer.size());
  if (got > 0) {
    printed_.append(buffer.data(), static_cast<std::size_t>(got));
    if (printed_.size() > 2 * kKeptOutput) {
      printed_.erase(0, printed_.size() - kKeptOutput);
    }
    return true;
  }
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    output_.reset();
  }
  return false;
}

void ChildProcess::freeze() {
  constexpr std::chrono::milliseconds kAgain(10);  // a continuation takes a stop back that has not come about yet
  constexpr std::chrono::seconds kPatience(5);
  const auto end = Clock::now() + kPatience;
  stopped_ = false;
  // The last look comes after the end, however long this process itself was held up before.
  for (bool last = false; alive() && !stopped_ && !last;) {
    last = Clock::now() > end;
    kill(pid_, SIGSTOP);
    const auto again = Clock::now() + kAgain;
    do {
      siginfo_t info{};
      // Tells once every thread has stopped, or when the process has ended meanwhile, whose end is collected later.
      if (waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid != 0) {
        waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG);
        stopped_ = true;
      } else {
        sched_yield();  // it may have to stop on this CPU
      }
    } while (!stopped_ && Clock::now() < again);
  }
}

// The system reports every stop and every continuation once; freeze() took the report of its own stop.
bool ChildProcess::stayed_frozen() const {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WCONTINUED | WEXITED | WNOHANG | WNOWAIT);
  return stopped_ && found == 0 && info.si_pid == 0;
}

void ChildProcess::thaw() const {
  if (alive()) {
    kill(pid_, SIGCONT);  // fails only when it has ended, which the next request finds out
  }
}

int ChildProcess::end() {
  if (!alive()) {
    return wait_status_;
  }
  // Before the leader is reaped, so that its number cannot belong to another group yet.
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  // A process that hangs in a driver may never end. Waiting for it would hang this program too.
  constexpr std::chrono::seconds kPatience(30);
  wait_for_exit(kPatience);
  wait_status_ = SIGKILL;  // unless there is another to collect
  while (waitpid(pid_, &wait_status_, WNOHANG) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  constexpr int kReads = 16;  // more than a pipe holds
  for (int i = 0; i < kReads && output_ && collect_output(); ++i) {
  }
  return wait_status_;
}

}  // namespace apo
