// harness/core/system/process.cpp - captures the output of a program until its end or its deadline.
#include "harness/core/system/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/spawn.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

void feed(FileDescriptor& fd, std::string_view& input) {
  const ssize_t wrote = write_without_sigpipe(fd.get(), input);
  if (wrote > 0) {
    input.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (input.empty() || (wrote < 0 && errno != EAGAIN && errno != EINTR)) {
    fd.reset();
  }
}

// Reads output beyond the limit too, so that the child is not blocked.
void drain_up_to(std::size_t limit, FileDescriptor& fd, std::string& text, bool& cut) {
  if (!drain(fd, text)) {
    fd.reset();
  }
  if (limit > 0 && text.size() > limit) {
    text.resize(limit);
    cut = true;
  }
}

// Moves data until both outputs are closed, the deadline passes, the limit is one or a stop is requested; true when the
// child is to be ended.
bool pump(FileDescriptor& in, FileDescriptor& out, FileDescriptor& err, const ProcessOptions& options,
          ProcessResult& result, Clock::time_point deadline) {
  const long look_after_ms = options.stop.stop_possible() ? 20 : 1000;
  std::string_view input = options.input;
  while (out || err) {
    if (options.stop.stop_requested()) {
      return true;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return true;
    }
    std::array<pollfd, 3> fds = {pollfd{out.get(), POLLIN, 0}, pollfd{err.get(), POLLIN, 0},
                                 pollfd{in.get(), POLLOUT, 0}};
    if (poll(fds.data(), fds.size(), static_cast<int>(std::min<long>(left, look_after_ms))) < 0 && errno != EINTR) {
      return true;
    }
    if (out && fds[0].revents != 0) {
      drain_up_to(options.output_limit, out, result.output, result.cut);
    }
    if (err && fds[1].revents != 0) {
      drain_up_to(options.output_limit, err, result.error, result.cut);
    }
    if (in && fds[2].revents != 0) {
      feed(in, input);
    }
    if (result.cut && options.end_at_limit) {
      return true;
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

std::string require_program(const std::string& name) {
  const auto program = find_program(name);
  if (!program) {
    throw EnvironmentError("cannot find the program '" + name + "' in PATH");
  }
  return *program;
}

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  APO_CHECK(!argv.empty());
  const auto start = Clock::now();
  SpawnedProcess child(require_program(argv.front()), argv,
                       {.working_folder = options.working_folder, .environment = options.environment});
  if (options.input.empty()) {
    child.in().reset();
  }
  const auto deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout_s));
  ProcessResult result;
  const bool ended = pump(child.in(), child.out(), child.err(), options, result, deadline);
  const int status = child.end(ended);
  if (ended && options.stop.stop_requested()) {
    throw Cancelled();
  }
  result.timed_out = ended && !(result.cut && options.end_at_limit);
  result.seconds = seconds_since(start);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* meaning = sigdescr_np(signal);
  if (name == nullptr || meaning == nullptr) {
    return fmt::format("signal {}", signal);
  }
  return std::string("SIG") + name + " (" + meaning + ")";
}

}  // namespace apo
