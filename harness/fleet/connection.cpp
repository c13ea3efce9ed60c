// harness/fleet/connection.cpp - pipes that do not block.
#include "harness/fleet/connection.h"

#include <fmt/format.h>

#include <algorithm>

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

void Connection::wait(const std::vector<Connection*>& connections, std::chrono::milliseconds longest) {
  std::vector<pollfd> descriptors;
  for (Connection* connection : connections) {
    if (!connection->is_over()) {
      connection->process_.watch(descriptors);
    }
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(longest.count()));  // EINTR: the next look
}

void Connection::send(const std::string& line) {
  process_.send(line + "\n");
}

std::vector<std::string> Connection::move() {
  process_.move();
  keep_end(process_.errors, kKeptErrors);
  std::vector<std::string> lines = take_lines(process_.output);
  over_ = over_ || !process_.out() || process_.output.size() > kLongestLine;
  return lines;
}

std::string Connection::end() {
  move();
  const ProcessResult result = ended_with(process_.end_within(over_ ? kFarewell : std::chrono::milliseconds(0)));
  const std::string how = result.signal != 0      ? "ended by " + signal_name(result.signal)
                          : result.exit_code == 0 ? std::string("ended")
                                                  : fmt::format("exit code {}", result.exit_code);
  const std::string said = last_line(process_.errors);
  return said.empty() ? how : how + ": " + said;
}

}  // namespace apo
