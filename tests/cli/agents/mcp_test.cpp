// tests/cli/agents/mcp_test.cpp - the real `apo mcp`: every tool, jobs, kills, two servers, hostile input.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/mcp/protocol/schema_check.h"
#include "harness/mcp/tools/tools.h"
#include "journal/database.h"
#include "journal/journal.h"
#include "tests/cli/agents/mcp_client.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Json = McpClient::Json;
namespace fs = std::filesystem;

constexpr const char* kWrong =
    "void copy(const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }\n";
const Json kLongCall = {{"a", "copy/simple"}, {"b", "copy/memcpy"}, {"workload", "n1m"}, {"judge", "standard"}};

Json modern(Json params = Json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  return params;
}

std::string text_of(const Json& result) {
  return result.contains("content") ? result["content"][0]["text"].get<std::string>() : result.dump();
}

bool is_error(const Json& result) {
  return result.value("isError", false);
}

std::string state_of(const Json& result) {
  return result.value("structuredContent", Json::object()).value("state", "");
}

// That the experiment of the long call is in the journal.
void wait_for_experiment(McpClient& client) {
  ASSERT_TRUE(testing::comes_about([&] {
    return !client.call("query", {{"where", {"state=running"}}})["structuredContent"]["rows"].empty();
  }));
}

// The process of the long call.
pid_t command_of(const Workplace& place) {
  pid_t command = 0;
  const auto is_it = [](pid_t process) {
    return testing::process_file(process, "cmdline").starts_with(std::string("apo\0compare", 11));
  };
  if (!testing::comes_about([&] {
        const std::vector<pid_t> processes = processes_of(place);
        const auto found = std::ranges::find_if(processes, is_it);
        command = found == processes.end() ? 0 : *found;
        return command != 0;
      })) {
    throw std::runtime_error("no command was started");
  }
  return command;
}

std::string begin_long_job(McpClient& client) {
  const Json result = client.call("compare", kLongCall);
  EXPECT_EQ(state_of(result), "running") << result;
  return result["structuredContent"]["job"];
}

const std::vector<std::string> kAtOnce = {"--answer-within", "50ms"};

// ---------------------------------------------------------------- start and end

TEST(Mcp, EndsWithItsInputAndPrintsNothing) {
  const Workplace place;
  const Ran ran = place.apo({"mcp"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(fs::is_empty(place.path(""))) << "starting writes nothing";
}

TEST(Mcp, AnswersWithinADuration) {
  const Ran ran = Workplace().apo({"mcp", "--answer-within", "20"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("--answer-within '20' is not a duration"), std::string::npos) << ran.err;
}

TEST(Mcp, WhatWasAskedBeforeTheEndIsAnswered) {
  const Workplace place;
  McpClient client(place);
  const int id = client.send_request("ping");
  EXPECT_EQ(client.close(), 0);
  EXPECT_EQ(client.answer_to(id)["result"], Json::object());
  EXPECT_FALSE(client.line());
}

TEST(Mcp, ListsAreTheSameBytesInEveryServer) {
  const Workplace place;
  const auto lists = [&] {
    McpClient client(place);
    std::vector<std::string> lines;
    for (const std::string method : {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}) {
      for (const Json& params : {Json::object(), modern()}) {
        client.send_request(method, params);
        lines.push_back(client.line().value_or(""));
        EXPECT_EQ(lines.back().find("\"error\""), std::string::npos) << lines.back();
      }
    }
    return lines;
  };
  EXPECT_EQ(lists(), lists());
}

TEST(Mcp, BothErasAreServedAtOnce) {
  const Workplace place;
  McpClient client(place);
  EXPECT_EQ(client.request("server/discover", modern())["result"]["resultType"], "complete");
  const Json old = client.request("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
  EXPECT_EQ(old["result"]["protocolVersion"], "2025-11-25");
  EXPECT_FALSE(client.request("tools/call", {{"name", "list"}})["result"].contains("resultType"));
  EXPECT_EQ(client.request("tools/call", modern({{"name", "list"}}))["result"]["resultType"], "complete");
}

// ---------------------------------------------------------------- tools

void expect_answer(const std::string& tool, const Json& result) {
  EXPECT_FALSE(is_error(result)) << tool << ": " << text_of(result);
  const Json structured = result.value("structuredContent", Json());
  EXPECT_EQ(mcp::schema_fault(structured, mcp::find_tool(tool)->output_schema), "") << tool << ": " << structured;
  EXPECT_EQ(Json::parse(text_of(result)), structured) << tool;
}

TEST(Mcp, EveryToolAnswersInItsSchema) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  const std::vector<std::pair<std::string, Json>> calls = {
      {"doctor", Json::object()},
      {"list", Json::object()},
      {"list", {{"family", "copy"}}},
      {"brief", {{"family", "copy"}, {"workload", "n4k"}}},
      {"register", {{"path", "mine.cpp"}}},
      {"verify", {{"source", kWrong}, {"family", "copy"}}},
      {"evaluate", {{"source", kWrong}, {"family", "copy"}, {"workload", "n4k"}}},
      {"compare", {{"a", "copy/simple"}, {"b", "copy/mine"}, {"workload", "n4k"}}},
      {"profile", {{"variant", "copy/simple"}, {"workload", "n4k"}}},
      {"explain", {{"a", "copy/simple"}, {"b", "copy/simple"}, {"workload", "n4k"}}},
      {"show", {{"id", 1}}},
      {"show", {{"id", "copy/simple"}, {"source", true}}},
      {"query", {{"where", {"family=copy"}}, {"limit", 5}}},
      {"lessons", {{"family", "copy"}}},
      {"wait", {{"job", "j1"}}},
      {"cancel", {{"job", "j1"}}},
  };
  McpClient client(place);
  std::set<std::string> called;
  for (const auto& [tool, arguments] : calls) {
    expect_answer(tool, client.finished(tool, arguments));
    called.insert(tool);
  }
  EXPECT_EQ(called.size(), mcp::tools().size()) << "every tool is called";
}

TEST(Mcp, AWrongKernelIsAnAnswerAndARefusedOneAnError) {
  const Workplace place;
  McpClient client(place);
  const Json wrong = client.finished("evaluate", {{"source", kWrong}, {"family", "copy"}, {"workload", "n4k"}});
  EXPECT_FALSE(is_error(wrong));
  EXPECT_EQ(wrong["structuredContent"]["result"]["verdict"], "wrong");
  EXPECT_EQ(wrong["structuredContent"]["result"]["wrong"]["tensor"], "y") << wrong;
  const Json verified = client.finished("verify", {{"source", kWrong}, {"family", "copy"}});
  EXPECT_EQ(verified["structuredContent"]["result"]["outcome"], "incorrect") << verified;
  EXPECT_FALSE(is_error(verified));
  const Json refused = client.finished("register", {{"source", "int copy("}, {"family", "copy"}});
  EXPECT_TRUE(is_error(refused));
  EXPECT_EQ(refused["structuredContent"]["result"]["state"], "refused");
  EXPECT_NE(text_of(refused).find("error:"), std::string::npos) << "the compiler's words: " << text_of(refused);
}

TEST(Mcp, MistakesAreErrorsThatAModelReads) {
  const Workplace place;
  McpClient client(place);
  const auto error = [&](const std::string& tool, const Json& arguments) {
    const Json result = client.finished(tool, arguments);
    EXPECT_TRUE(is_error(result)) << tool << ": " << result;
    return text_of(result);
  };
  EXPECT_NE(error("evaluate", {{"source", kWrong}, {"family", "coppy"}}).find("did you mean 'copy'"),
            std::string::npos);
  EXPECT_NE(error("show", {{"id", "--help"}}).find("begins with a dash"), std::string::npos);
  EXPECT_NE(error("list", {{"famly", "copy"}}).find("did you mean 'family'"), std::string::npos);
  EXPECT_NE(error("evaluate", {{"family", "copy"}}).find("neither 'path' nor 'source' nor 'variant'"),
            std::string::npos);
  EXPECT_NE(error("wait", {{"job", "12"}}).find("j12"), std::string::npos);
  EXPECT_NE(error("wait", {{"job", "j99"}}).find("no job j99"), std::string::npos);
  EXPECT_NE(error("cancel", {{"job", "j99"}}).find("no job j99"), std::string::npos);
  EXPECT_NE(error("wait", {{"job", "j1"}, {"seconds", 26}}).find("at most 25"), std::string::npos);
}

TEST(Mcp, ResourcesAreReadAndUnknownOnesNamed) {
  const Workplace place;
  McpClient client(place);
  const Json source = client.request("resources/read", {{"uri", "apo://source/copy/simple"}});
  EXPECT_EQ(source["result"]["contents"][0]["text"], read_file(APO_SOURCE_FOLDER "/variants/copy/simple.cpp"));
  for (const std::string uri : {"apo://source/copy/nope", "apo://experiment/7", "apo://nope", "file:///etc/passwd"}) {
    const Json answer = client.request("resources/read", {{"uri", uri}});
    EXPECT_EQ(answer["error"]["code"], -32002) << answer;
    EXPECT_EQ(answer["error"]["data"]["uri"], uri);
    EXPECT_EQ(client.request("resources/read", modern({{"uri", uri}}))["error"]["code"], -32602);
  }
}

TEST(Mcp, FilesOutsideOfItsFolderAreRefused) {
  const Workplace place;
  const TemporaryFolder elsewhere;
  write_file_atomically(elsewhere.path() / "x.cpp", kWrong);
  fs::create_symlink(elsewhere.path() / "x.cpp", place.path("link.cpp"));
  McpClient client(place);
  for (const std::string tool : {"evaluate", "register", "verify"}) {
    for (const std::string& path : {(elsewhere.path() / "x.cpp").string(), std::string("../../etc/passwd"),
                                    std::string("link.cpp"), std::string("/proc/self/environ")}) {
      const Json result = client.call(tool, {{"path", path}, {"family", "copy"}});
      EXPECT_TRUE(is_error(result));
      EXPECT_NE(text_of(result).find("is outside of"), std::string::npos) << text_of(result);
    }
  }
  EXPECT_FALSE(fs::exists(place.path(".apo"))) << "no command was started";
}

// ---------------------------------------------------------------- jobs

TEST(Mcp, ACallThatTakesLongIsAJobThatCanBeWaitedForAndStopped) {
  const Workplace place;
  McpClient client(place, kAtOnce);
  const std::string job = begin_long_job(client);
  const Json now = client.call("wait", {{"job", job}, {"seconds", 0}});
  EXPECT_EQ(state_of(now), "running");
  EXPECT_EQ(client.request("ping")["result"], Json::object()) << "others are served";
  // Progress is of the wait that asks for it.
  client.others.clear();
  const Json params = {
      {"name", "wait"}, {"arguments", {{"job", job}, {"seconds", 2}}}, {"_meta", {{"progressToken", "tok"}}}};
  client.request("tools/call", params);
  double last = 0;
  for (const Json& note : client.others) {
    EXPECT_EQ(note["method"], "notifications/progress");
    EXPECT_EQ(note["params"]["progressToken"], "tok");
    EXPECT_GT(note["params"]["progress"].get<double>(), last);
    last = note["params"]["progress"].get<double>();
  }
  EXPECT_GT(last, 0) << "a judgement tells its progress";
  // Who takes a wait back leaves the job alone.
  const int waits = client.send_request("tools/call", {{"name", "wait"}, {"arguments", {{"job", job}}}});
  client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", waits}}}});
  EXPECT_EQ(state_of(client.call("wait", {{"job", job}, {"seconds", 0}})), "running");
  const Json cancelled = client.call("cancel", {{"job", job}});
  EXPECT_EQ(state_of(cancelled), "cancelled");
  EXPECT_FALSE(is_error(cancelled));
  EXPECT_EQ(state_of(client.call("wait", {{"job", job}})), "cancelled") << "the journal has it";
  EXPECT_EQ(state_of(client.call("cancel", {{"job", job}})), "cancelled") << "twice is no mistake";
  EXPECT_EQ(client.close(), 0);
  expect_no_processes(place);
}

TEST(Mcp, ACancelledRequestIsNotAnsweredAndItsProcessesEnd) {
  const Workplace place;
  McpClient client(place);
  const int id = client.send_request("tools/call", {{"name", "compare"}, {"arguments", kLongCall}});
  command_of(place);
  client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}});
  client.others.clear();
  EXPECT_EQ(state_of(client.call("wait", {{"job", "j1"}})), "cancelled");
  EXPECT_TRUE(client.others.empty()) << client.others[0];
  EXPECT_TRUE(testing::comes_about([&] { return processes_of(place).size() <= 1; })) << "more than the server";
  EXPECT_EQ(client.close(), 0);
  EXPECT_FALSE(client.line());
}

class McpEnds : public ::testing::TestWithParam<bool> {};

TEST_P(McpEnds, DuringAJudgementNothingIsLeftAndTheJobIsKnownToBeInterrupted) {
  const Workplace place;
  std::string job;
  {
    McpClient client(place, kAtOnce);
    job = begin_long_job(client);
    wait_for_experiment(client);
    EXPECT_GT(processes_of(place).size(), 1u);
    if (GetParam()) {
      client.kill();
    } else {
      EXPECT_EQ(client.close(), 0);
    }
    expect_no_processes(place);
  }
  McpClient client(place);
  const Json after = client.call("wait", {{"job", job}});
  EXPECT_EQ(state_of(after), "interrupted");
  EXPECT_TRUE(is_error(after));
  const Json experiments = after["structuredContent"]["experiments"];
  ASSERT_EQ(experiments.size(), 1u) << after;
  EXPECT_EQ(experiments[0]["candidate"], "copy/memcpy");
  EXPECT_EQ(experiments[0]["verdict"], "");
  EXPECT_EQ(state_of(client.call("cancel", {{"job", job}})), "interrupted");
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(How, McpEnds, ::testing::Bool(),
                         [](const auto& how) { return how.param ? "ByAKill" : "WithItsInput"; });

TEST(Mcp, ACommandThatIsKilledIsAnErrorAndTheServerGoesOn) {
  const Workplace place;
  McpClient client(place);
  const int id = client.send_request("tools/call", {{"name", "compare"}, {"arguments", kLongCall}});
  kill(command_of(place), SIGKILL);
  const Json result = client.answer_to(id)["result"];
  EXPECT_TRUE(is_error(result));
  EXPECT_EQ(state_of(result), "failed");
  EXPECT_NE(text_of(result).find("SIGKILL"), std::string::npos) << text_of(result);
  EXPECT_EQ(client.request("ping")["result"], Json::object());
}

TEST(Mcp, TwoServersShareAJournalAndNotTheirJobs) {
  const Workplace place;
  McpClient one(place, kAtOnce);
  const std::string job = begin_long_job(one);
  McpClient two(place, kAtOnce);
  const Json seen = two.call("wait", {{"job", job}, {"seconds", 0}});
  EXPECT_EQ(state_of(seen), "running") << seen;
  EXPECT_NE(text_of(two.call("cancel", {{"job", job}})).find("another running server"), std::string::npos);
  const int waits = two.send_request("tools/call", {{"name", "wait"}, {"arguments", {{"job", job}, {"seconds", 25}}}});
  EXPECT_EQ(state_of(one.call("cancel", {{"job", job}})), "cancelled");
  EXPECT_EQ(state_of(two.answer_to(waits)["result"]), "cancelled");
}

// ---------------------------------------------------------------- trouble

TEST(Mcp, ALockedJournalDelaysJobsAlone) {
  const Workplace place;
  fs::create_directory(place.path(".apo"));
  { const Journal created = Journal::open(place.path(".apo/journal.db"), Access::read_write); }
  Database lock(place.path(".apo/journal.db"), Database::Mode::write);
  lock.execute("BEGIN EXCLUSIVE");
  McpClient client(place);
  client.send_request("tools/call", {{"name", "verify"}, {"arguments", {{"variant", "copy/simple"}}}});
  EXPECT_FALSE(is_error(client.call("list", {{"family", "copy"}})));
  EXPECT_EQ(client.request("ping")["result"], Json::object());
  EXPECT_EQ(client.close(), 0) << "though the journal is still locked";
}

TEST(Mcp, AJournalThatCannotBeWrittenIsAnErrorOfTheTool) {
  const Workplace place;
  fs::create_directory(place.path(".apo"));
  place.write(".apo/journal.db", "my notes about kernels, longer than a header of sixteen bytes");
  McpClient client(place);
  const Json result = client.call("verify", {{"variant", "copy/simple"}});
  EXPECT_TRUE(is_error(result));
  EXPECT_NE(text_of(result).find("is not a journal"), std::string::npos) << text_of(result);
  EXPECT_FALSE(is_error(client.call("list", {{"family", "copy"}})));
}

TEST(Mcp, NonsenseIsAnsweredAndServingGoesOn) {
  const Workplace place;
  McpClient client(place);
  for (const std::string& line :
       {std::string("nonsense"), std::string("{\"jsonrpc\":\"2.0\",\"id\":1,"), std::string("[]"),
        std::string("\xff\xfe"), std::string("{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"ping\"}"),
        std::string(200'000, '['), std::string(3, '\0'), std::string((std::size_t{16} << 20) + 1, 'x')}) {
    client.send_line(line);
    EXPECT_TRUE(client.message().contains("error")) << line.substr(0, 40);
  }
  EXPECT_EQ(client.request("ping")["result"], Json::object());
}

TEST(Mcp, SourcesOfAnySizeAndBytesAreAnswered) {
  const Workplace place;
  place.write("empty.cpp", "");
  place.write("long.cpp", std::string(std::size_t{10} << 20, ' '));
  place.write("bytes.cpp", "// apo:idea \xff\xfe\nvoid copy(const float* x, float* y, long n) { \x80 }\n");
  McpClient client(place);
  const auto error = [&](const Json& arguments) {
    const Json result = client.finished("evaluate", arguments);
    EXPECT_TRUE(is_error(result)) << text_of(result);
    return text_of(result);
  };
  EXPECT_NE(error({{"source", ""}, {"family", "copy"}}).find("'source' must not be empty"), std::string::npos);
  EXPECT_NE(error({{"path", "empty.cpp"}, {"family", "copy"}}).find("is empty"), std::string::npos);
  EXPECT_NE(error({{"source", std::string(std::size_t{10} << 20, ' ')}, {"family", "copy"}}).find("longer than 1 MiB"),
            std::string::npos);
  EXPECT_NE(error({{"path", "long.cpp"}, {"family", "copy"}}).find("longer than 1 MiB"), std::string::npos);
  const Json bytes = client.finished("evaluate", {{"path", "bytes.cpp"}, {"family", "copy"}});
  EXPECT_TRUE(bytes.contains("content")) << "whatever the compiler makes of it";
  EXPECT_FALSE(text_of(bytes).empty());
}

TEST(Mcp, AFloodIsAnsweredOneByOneAndCommandsAreLimited) {
  const Workplace place;
  McpClient client(place);
  constexpr int kPings = 2000;
  std::string many;
  for (int i = 0; i < kPings; ++i) {
    many += R"({"jsonrpc":"2.0","id":"p)" + std::to_string(i) + R"(","method":"ping"})" + "\n";
  }
  client.send_line(many);
  for (int i = 0; i < kPings; ++i) {
    ASSERT_EQ(client.message()["id"], "p" + std::to_string(i));
  }
  constexpr int kCalls = 40;
  std::string calls;
  for (int i = 0; i < kCalls; ++i) {
    calls += R"({"jsonrpc":"2.0","id":"c)" + std::to_string(i) +
             R"(","method":"tools/call","params":{"name":"query","arguments":{}}})" + "\n";
  }
  client.send_line(calls);
  int refused = 0;
  for (int i = 0; i < kCalls; ++i) {
    const std::string text = text_of(client.message()["result"]);
    refused += text.find("calls are running already") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(refused, 1);
  EXPECT_LT(refused, kCalls);
  EXPECT_EQ(client.close(), 0);
}

}  // namespace
}  // namespace apo
