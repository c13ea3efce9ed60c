// harness/fleet/connection.cpp - pipes that do not block.
#include "harness/fleet/connection.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kKeptErrors = 4096;
constexpr auto kFarewell = std::chrono::milliseconds(500);    // from the end of its output to its own
constexpr std::size_t kLongestLine = std::size_t{256} << 20;  // no answer comes near

std::string last_line(const std::string& text) {
  const std::vector<std::string> lines = split(trim(text), '\n');
  return one_line(lines.back());
}

}  // namespace

Connection::Connection(const std::string& command)
    : process_("/bin/sh", {"/bin/sh", "-c", command}, {.working_folder = "", .environment = {}, .guarded = false}) {}

void Connection::watch(std::vector<pollfd>& descriptors) {
  descriptors.push_back({process_.out().get(), POLLIN, 0});
  descriptors.push_back({process_.err().get(), POLLIN, 0});
  if (!unsent_.empty() && process_.in()) {
    descriptors.push_back({process_.in().get(), POLLOUT, 0});
  }
}

void Connection::wait(const std::vector<Connection*>& connections, std::chrono::milliseconds longest) {
  std::vector<pollfd> descriptors;
  for (Connection* connection : connections) {
    if (!connection->is_over()) {
      connection->watch(descriptors);
    }
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(longest.count()));  // EINTR: the next look
}

void Connection::send(const std::string& line) {
  unsent_ += line;
  unsent_ += '\n';
  write_some();
}

void Connection::write_some() {
  while (!unsent_.empty() && process_.in()) {
    const ssize_t wrote = write_without_sigpipe(process_.in().get(), unsent_);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return;  // full, or the reader is gone, which the end of its output says
    }
    unsent_.erase(0, static_cast<std::size_t>(wrote));
  }
}

std::vector<std::string> Connection::move() {
  write_some();
  std::string text;
  over_ = over_ || !drain(process_.out(), text);
  if (process_.err() && !drain(process_.err(), errors_)) {
    process_.err().reset();
  }
  errors_.erase(0, errors_.size() - std::min(errors_.size(), kKeptErrors));
  line_ += text;
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = line_.find('\n', line_.size() - text.size()); end != std::string::npos;
       end = line_.find('\n', begin)) {
    lines.push_back(line_.substr(begin, end - begin));
    begin = end + 1;
  }
  line_.erase(0, begin);
  over_ = over_ || line_.size() > kLongestLine;
  return lines;
}

std::string Connection::end() {
  move();
  const int status = process_.end_within(over_ ? kFarewell : std::chrono::milliseconds(0));
  const std::string how = WIFSIGNALED(status)        ? "ended by " + signal_name(WTERMSIG(status))
                          : WEXITSTATUS(status) == 0 ? std::string("ended")
                                                     : fmt::format("exit code {}", WEXITSTATUS(status));
  const std::string said = last_line(errors_);
  return said.empty() ? how : how + ": " + said;
}

}  // namespace apo
