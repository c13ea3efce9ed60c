// harness/core/system/line_process.cpp - polls both outputs and the program's end.
#include "harness/core/system/line_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/orphans.h"
#include "harness/core/system/process.h"
#include "harness/core/system/spawn.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
constexpr std::size_t kKeptTail = 4096;
constexpr int kReadsAfterTheEnd = 32;  // more than a pipe holds: what was left behind writes on
constexpr auto kAfterTheEnd = std::chrono::milliseconds(1000);  // for helpers that end with their program

void keep_tail(std::string& tail, std::string_view more) {
  tail.append(more);
  if (tail.size() > 2 * kKeptTail) {
    tail.erase(0, tail.size() - kKeptTail);
  }
}

// Nothing where there is nothing now; closes the descriptor at its end.
std::string read_some(FileDescriptor& fd) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
    fd.reset();
  }
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : "";
}

class LineRun {
 public:
  LineRun(const std::vector<std::string>& argv, const LineProcessOptions& options, const OnLine& on_line)
      : on_line_(on_line),
        start_(Clock::now()),
        deadline_(start_ +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout_s))),
        child_(require_program(argv.front()), argv,
               {.working_folder = options.working_folder, .environment = options.environment}),
        end_(static_cast<int>(syscall(SYS_pidfd_open, child_.pid(), 0))) {
    if (!end_) {
      throw EnvironmentError(std::string("cannot watch a process: ") + std::strerror(errno));
    }
    child_.in().reset();
  }

  LineProcessResult run() {
    const bool now = !watch();
    result_.seconds = seconds_since(start_);
    result_.left_behind = now ? 0 : orphans_.count(child_.pids(), kAfterTheEnd);
    const int status = child_.end(now);
    orphans_.end_all({});
    if (!now) {
      drain();
    }
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result_.printed = errors_.empty() ? output_ : errors_;
    return result_;
  }

 private:
  // Until the program itself has ended; false when it has to be.
  bool watch() {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      if (left <= 0) {
        result_.timed_out = true;
        return false;
      }
      std::array<pollfd, 3> fds = {pollfd{child_.out().get(), POLLIN, 0}, pollfd{child_.err().get(), POLLIN, 0},
                                   pollfd{end_.get(), POLLIN, 0}};
      if (poll(fds.data(), fds.size(), static_cast<int>(std::min<long>(left + 1, 1000))) < 0 && errno != EINTR) {
        throw EnvironmentError(std::string("cannot wait for a process: ") + std::strerror(errno));
      }
      if (!take(fds[0].revents != 0, fds[1].revents != 0)) {
        result_.stopped = true;
        return false;
      }
      if (fds[2].revents != 0 && (fds[0].revents == 0 || ++reads_after_end_ > kReadsAfterTheEnd)) {
        return true;
      }
    }
  }

  // What lies in the pipes when nobody is left to write to them.
  void drain() {
    bool goes_on = true;
    while (goes_on && child_.out()) {
      const std::string more = read_some(child_.out());
      goes_on = !more.empty() && add(more);
    }
    while (child_.err()) {
      const std::string more = read_some(child_.err());
      if (more.empty()) {
        break;
      }
      keep_tail(errors_, more);
    }
    if (!line_.empty()) {
      static_cast<void>(on_line_(line_, result_.seconds));
    }
  }

  bool take(bool out, bool err) {
    if (err && child_.err()) {
      keep_tail(errors_, read_some(child_.err()));
    }
    return !out || !child_.out() || add(read_some(child_.out()));
  }

  bool add(std::string_view more) {
    const double now = seconds_since(start_);
    keep_tail(output_, more);
    for (std::size_t at = more.find('\n'); at != std::string_view::npos; at = more.find('\n')) {
      line_.append(more.substr(0, at));
      more.remove_prefix(at + 1);
      if (!on_line_(line_, now)) {
        return false;
      }
      line_.clear();
    }
    line_.append(more.substr(0, kLongestLine - std::min(kLongestLine, line_.size())));
    return true;
  }

  const OnLine& on_line_;
  Orphans orphans_;  // before the child
  Clock::time_point start_;
  Clock::time_point deadline_;
  SpawnedProcess child_;
  FileDescriptor end_;
  int reads_after_end_ = 0;
  std::string line_;
  std::string output_;
  std::string errors_;
  LineProcessResult result_;
};

}  // namespace

LineProcessResult run_lines(const std::vector<std::string>& argv, const LineProcessOptions& options,
                            const OnLine& on_line) {
  APO_CHECK(!argv.empty());
  LineRun run(argv, options, on_line);
  return run.run();
}

}  // namespace apo
