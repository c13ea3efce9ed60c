// tests/cli/agents/mcp_client.h - a client that starts the real `apo mcp` in a folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/spawn.h"
#include "tests/cli/workplace.h"

namespace apo {

class McpClient {
 public:
  using Json = nlohmann::ordered_json;

  explicit McpClient(const Workplace& workplace, const std::vector<std::string>& options = {});

  void send_line(const std::string& line);
  void send(const Json& message) { send_line(message.dump()); }
  int send_request(const std::string& method, const Json& params = Json::object());  // its id
  // The next line; nullopt at the end of the stream. Fails the test after a minute.
  std::optional<std::string> line();
  Json message();
  // The answer to that request; what comes before it is kept in `others`.
  Json answer_to(const Json& id);
  Json request(const std::string& method, const Json& params = Json::object());
  // The result of a tool.
  Json call(const std::string& tool, const Json& arguments = Json::object());
  // The same, and waits for the job while it runs.
  Json finished(const std::string& tool, const Json& arguments = Json::object());

  std::vector<Json> others;

  // Closes the server's input and returns what waitpid() says.
  int close();
  void kill();  // the server alone, by a signal that it cannot see

 private:
  void fill(bool writes);
  std::unique_ptr<SpawnedProcess> process_;
  std::string read_;
  std::filesystem::path pid_file_;
  bool at_end_ = false;
  int last_id_ = 0;
};

// Processes, but for zombies, whose working folder or command line is of that workplace.
std::vector<pid_t> processes_of(const Workplace& workplace);
// Waits until there are none; a failure after a minute.
void expect_no_processes(const Workplace& workplace);

}  // namespace apo
