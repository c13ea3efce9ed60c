// tests/cli/agents/sdk_test.cpp - `apo mcp` with clients that are not ours: one of each era of the protocol.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/cli/agents/mcp_client.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

const fs::path kPackages = APO_BINARY_FOLDER "/mcp-sdk";
const fs::path kSession = APO_SOURCE_FOLDER "/tests/cli/agents/sdk/session.mjs";

// Empty when the packages are there, else why they are not.
std::string installed_packages() {
  const auto node = find_program("node");
  if (!node || !find_program("npm")) {
    return "node or npm is not installed";
  }
  const std::string version = trim(run_process({*node, "--version"}).output);
  constexpr int kOldest = 20;
  if (parse_int(split(version.empty() ? version : version.substr(1), '.').front()).value_or(0) < kOldest) {
    return "node " + version + " is older than 20, which the clients need";
  }
  const std::string wanted = read_file(APO_SOURCE_FOLDER "/tests/cli/agents/sdk/package.json");
  const fs::path mark = kPackages / "installed";
  if (fs::exists(mark) && read_file(mark) == wanted) {
    return "";
  }
  fs::create_directories(kPackages);
  write_file_atomically(kPackages / "package.json", wanted);
  const ProcessResult install = run_process(
      {"npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0", "--loglevel=error"},
      {.timeout_s = 60, .working_folder = kPackages.string()});
  if (!install.ok()) {
    return "npm cannot install the clients: " + (install.timed_out ? "no answer in 60 s" : install.error);
  }
  write_file_atomically(mark, wanted);
  return "";
}

// A session of that client; prints it.
ProcessResult session(const Workplace& place, const std::string& client) {
  return run_process(
      {"node", kSession.string(), kPackages.string(), client, APO_PROGRAM, "wrong.cpp"},
      {.timeout_s = 600,
       .working_folder = place.path("").string(),
       .environment = {"APO_HOME=" APO_SOURCE_FOLDER, "APO_JOURNAL=", "APO_CACHE=" APO_BINARY_FOLDER "/test-cache",
                       "XDG_RUNTIME_DIR=" + place.path("").string()}});
}

TEST(McpSdk, ClientsOfBothErasGetFromTheFirstMessageToAVerdict) {
  if (const std::string why = installed_packages(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const Workplace place;
  place.write("wrong.cpp",
              "void copy(const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }\n");
  for (const auto& [client, opening] : {std::pair("sdk", "\"initialize\""), std::pair("client", "server/discover")}) {
    const ProcessResult result = session(place, client);
    EXPECT_TRUE(result.ok()) << client << ": " << result.output << result.error;
    EXPECT_TRUE(result.output.ends_with("verdict: wrong\n")) << client << ": " << result.output;
    EXPECT_NE(result.output.find("\n<- "), std::string::npos) << "the transcript has both sides";
    EXPECT_NE(result.output.find(opening), std::string::npos) << result.output;
  }
  expect_no_processes(place);
}

}  // namespace
}  // namespace apo
