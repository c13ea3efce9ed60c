// tests/cli/agents/mcp_client.cpp - writes and reads lines, with a deadline.
#include "tests/cli/agents/mcp_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "tests/processes.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The server's id is written by the shell that becomes it.
std::vector<std::string> argv_of(const Workplace& workplace, const std::vector<std::string>& options) {
  std::vector<std::string> argv = {
      "sh", "-c", "echo $$ >'" + workplace.path("server.pid").string() + "'; exec \"$@\"", "sh", APO_PROGRAM, "mcp"};
  argv.insert(argv.end(), options.begin(), options.end());
  return argv;
}

bool is_of(int pid, const std::string& folder) {
  std::error_code error;
  const fs::path working = fs::read_symlink("/proc/" + std::to_string(pid) + "/cwd", error);
  const std::string stat = testing::process_file(pid, "stat");
  const std::size_t state = stat.rfind(") ");
  const bool lives = state != std::string::npos && stat[state + 2] != 'Z' && stat[state + 2] != 'X';
  return lives && ((!error && working.string().starts_with(folder)) ||
                   testing::process_file(pid, "cmdline").find(folder) != std::string::npos);
}

}  // namespace

McpClient::McpClient(const Workplace& workplace, const std::vector<std::string>& options) {
  const SpawnOptions spawn{
      .working_folder = workplace.path("").string(),
      .environment = {"APO_HOME=" APO_SOURCE_FOLDER, "APO_JOURNAL=", "APO_CACHE=" APO_BINARY_FOLDER "/test-cache",
                      "XDG_RUNTIME_DIR=" + workplace.path("").string()}};
  process_ = std::make_unique<SpawnedProcess>("/bin/sh", argv_of(workplace, options), spawn);
  pid_file_ = workplace.path("server.pid");
}

void McpClient::send_line(const std::string& line) {
  const std::string whole = line + "\n";
  const auto until = Clock::now() + testing::kPatience;
  for (std::size_t done = 0; done < whole.size();) {
    const ssize_t wrote = write_without_sigpipe(process_->in().get(), std::string_view(whole).substr(done));
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
      continue;
    }
    ASSERT_EQ(errno, EAGAIN) << "the server is gone";
    ASSERT_LT(Clock::now(), until) << "the server does not read";
    fill(true);  // it may wait for us to read
  }
}

// Reads what is there, or waits a little for that, or until the server reads.
void McpClient::fill(bool writes) {
  pollfd both[] = {{process_->out().get(), POLLIN, 0}, {process_->in().get(), POLLOUT, 0}};
  poll(both, writes ? 2 : 1, 20);
  std::array<char, 65536> buffer;
  const ssize_t got = read(process_->out().get(), buffer.data(), buffer.size());
  if (got > 0) {
    read_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  at_end_ = at_end_ || got == 0;
}

std::optional<std::string> McpClient::line() {
  const auto until = Clock::now() + testing::kPatience;
  while (true) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::string found = read_.substr(0, end);
      read_.erase(0, end + 1);
      return found;
    }
    if (at_end_) {
      EXPECT_EQ(read_, "") << "half a line";
      return std::nullopt;
    }
    if (Clock::now() > until) {
      ADD_FAILURE() << "no line came";
      return std::nullopt;
    }
    fill(false);
  }
}

McpClient::Json McpClient::message() {
  const auto text = line();
  Json json = Json::parse(text.value_or(""), nullptr, false);
  EXPECT_TRUE(json.is_object() || json.is_array()) << "stdout holds what is no message: " << text.value_or("its end");
  return json.is_discarded() ? Json::object() : json;
}

int McpClient::send_request(const std::string& method, const Json& params) {
  send({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}});
  return last_id_;
}

McpClient::Json McpClient::answer_to(const Json& id) {
  while (!::testing::Test::HasFailure()) {
    Json got = message();
    if (got.is_object() && got.value("id", Json()) == id) {
      return got;
    }
    others.push_back(std::move(got));
  }
  return Json::object();
}

McpClient::Json McpClient::request(const std::string& method, const Json& params) {
  return answer_to(send_request(method, params));
}

McpClient::Json McpClient::call(const std::string& tool, const Json& arguments) {
  const Json answer = request("tools/call", {{"name", tool}, {"arguments", arguments}});
  EXPECT_TRUE(answer.contains("result")) << answer;
  return answer.value("result", Json::object());
}

McpClient::Json McpClient::finished(const std::string& tool, const Json& arguments) {
  Json result = call(tool, arguments);
  while (result.value("structuredContent", Json::object()).value("state", "") == "running") {
    result = call("wait", {{"job", result["structuredContent"]["job"]}});
  }
  return result;
}

int McpClient::close() {
  process_->in().reset();
  return process_->end(false);
}

void McpClient::kill() {
  ::kill(static_cast<pid_t>(parse_int(trim(read_file(pid_file_))).value()), SIGKILL);
  process_->end(false);
}

std::vector<pid_t> processes_of(const Workplace& workplace) {
  std::vector<pid_t> found;
  const std::string folder = fs::canonical(workplace.path("")).string();
  for (const int pid : testing::all_processes()) {
    if (pid != getpid() && is_of(pid, folder)) {
      found.push_back(pid);
    }
  }
  return found;
}

void expect_no_processes(const Workplace& workplace) {
  EXPECT_TRUE(testing::comes_about([&] { return processes_of(workplace).empty(); })) << "processes are left";
}

}  // namespace apo
