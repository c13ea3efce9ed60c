// tests/loop/fleet/served_worker.h - a real `apo worker --serve`, spoken to line by line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/loop/fleet/connection.h"
#include "harness/loop/fleet/messages.h"

namespace apo::testing {

// The command of one on this CPU, whose numbers nobody needs: it waits for no other test's turn. `filter` is a command
// that its lines go through, `cache` where its builds are.
std::string worker_command(const TemporaryFolder& folder, const std::string& filter = "",
                           const std::string& cache = APO_BINARY_FOLDER "/test-cache");

// Of a copy of 4096 numbers; sources are those that this program ships, or `candidate`.
Task copy_task(std::int64_t id, const std::string& candidate);
Task copy_task(std::int64_t id, const Variant& candidate);
// A right candidate that no catalogue has.
Variant new_variant();

class ServedWorker {
 public:
  explicit ServedWorker(const std::string& command) : connection_(command) {}
  void send(const Message& message) { connection_.send(message.dump()); }
  // The next message of one of these types; nullopt when there was none in time, or there is no more.
  std::optional<Message> next(const std::vector<std::string>& types, double patience_s = 60);
  // Whether it ends in that time.
  bool ends_within(double seconds);
  Connection& connection() { return connection_; }

 private:
  Connection connection_;
  std::vector<Message> heard_;
};

}  // namespace apo::testing
