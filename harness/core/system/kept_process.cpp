// harness/core/system/kept_process.cpp - reads what the program prints until it ends or asks for the next request.
#include "harness/core/system/kept_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "harness/core/stopwatch.h"

namespace apo {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20;  // of each stream that is kept

void take(FileDescriptor& fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
    text.erase(0, text.size() - std::min(text.size(), kMostOutput));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    fd.reset();
  }
}

bool asks_for_next(std::string_view output) {
  const std::string line = std::string(kNextRequest) + "\n";
  return output == line || output.ends_with("\n" + line);
}

}  // namespace

KeptProcess::KeptProcess(std::vector<std::string> argv, std::string working_folder)
    : argv_(std::move(argv)), working_folder_(std::move(working_folder)) {}

KeptProcess::~KeptProcess() = default;

ProcessResult KeptProcess::ask(const std::string& request, double timeout_s) {
  const std::lock_guard lock(mutex_);
  if (process_) {
    const std::string line = request + "\n";
    const bool sent = write_without_sigpipe(process_->in().get(), line) == static_cast<ssize_t>(line.size());
    ProcessResult result = sent ? answer(timeout_s) : ProcessResult{};
    if (result.ok() || result.timed_out) {
      return result;
    }
    process_.reset();  // what an older request broke does not count against this one
  }
  std::vector<std::string> argv = argv_;
  argv.push_back(request);
  ++starts_;
  process_ = std::make_unique<SpawnedProcess>(require_program(argv.front()), argv,
                                              SpawnOptions{.working_folder = working_folder_, .environment = {}});
  return answer(timeout_s);
}

ProcessResult KeptProcess::answer(double timeout_s) {
  const auto start = std::chrono::steady_clock::now();
  ProcessResult result;
  while (process_->out() || process_->err()) {
    const double left = timeout_s - seconds_since(start);
    std::array<pollfd, 2> fds = {pollfd{process_->out().get(), POLLIN, 0}, pollfd{process_->err().get(), POLLIN, 0}};
    if (left <= 0 ||
        (poll(fds.data(), fds.size(), static_cast<int>(std::min(left, 1.0) * 1000)) < 0 && errno != EINTR)) {
      result.timed_out = true;
      break;
    }
    if (fds[0].revents != 0) {
      take(process_->out(), result.output);
    }
    if (fds[1].revents != 0) {
      take(process_->err(), result.error);
    }
    if (asks_for_next(result.output)) {
      result.exit_code = 0;
      return result;
    }
  }
  const int status = process_->end(result.timed_out);
  process_.reset();
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace apo
