// tests/cli/improve/proposer_test.cpp - commands that propose candidates, good ones and those that a campaign survives.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/cli/workplace.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr const char* kCopyHead = "void copy(const float* x, float* y, long n) {";

bool too_restless(const Ran& ran) {
  return ran.exit_code == 2 && ran.err.find("A/A sentinel") != std::string::npos;
}

// A command that prints these lines.
std::string printing(const Workplace& place, const std::string& name, const std::vector<Json>& lines) {
  std::string text;
  for (const Json& line : lines) {
    text += line.dump() + "\n";
  }
  place.write(name, text);
  return "cat '" + place.path(name).string() + "'";
}

Words run_with(const std::vector<std::string>& proposers) {
  Words words = {"run",          "copy", "--workload",      "n4k", "--iterations", "1",
                 "--candidates", "3",    "--proposer-time", "5s",  "--proposals",  "20"};
  for (const std::string& one : proposers) {
    words.insert(words.end(), {"--proposer", one});
  }
  words.emplace_back("--json");
  return words;
}

bool is_running(const std::string& argument) {
  for (const int pid : testing::all_processes()) {
    const std::string line = testing::process_file(pid, "cmdline");
    if (line.find(argument) != std::string::npos && line.starts_with("sleep")) {
      return true;
    }
  }
  return false;
}

void check_faults(const Json& calls) {
  EXPECT_EQ(calls[1]["outcome"], "timed_out");
  EXPECT_FALSE(is_running("98765")) << "what it had started is ended with it";
  EXPECT_EQ(calls[2]["note"], "it was ended by SIGKILL (Killed)");
  EXPECT_EQ(calls[3]["note"], "it ended with exit code 3: out of tokens");
  EXPECT_EQ(calls[4]["outcome"], "flooded");
  EXPECT_EQ(calls[5]["note"], "it proposed nothing");
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_TRUE(calls[i]["proposals"].empty()) << calls[i];
  }
}

void check_proposals(const Json& proposals) {
  const std::vector<std::string> states = {"taken",   "taken",   "repeated", "taken",   "repeated", "refused",
                                           "refused", "refused", "refused",  "refused", "refused"};
  ASSERT_EQ(proposals.size(), states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(proposals[i]["state"], states[i]) << proposals[i];
  }
  EXPECT_NE(proposals[3].dump().find("copy/again_"), std::string::npos) << "named by the block of its source";
  EXPECT_NE(proposals[3].dump().find("said in the block"), std::string::npos) << proposals[3];
  EXPECT_NE(proposals[4]["why"].dump().find("the same as copy/simple"), std::string::npos) << proposals[4];
  EXPECT_NE(proposals[5]["why"].dump().find("choose one of"), std::string::npos) << proposals[5];
  EXPECT_NE(proposals[6]["why"].dump().find("is no variant"), std::string::npos) << proposals[6];
  EXPECT_NE(proposals[7]["why"].dump().find("is for cuda"), std::string::npos) << proposals[7];
  EXPECT_EQ(proposals[9]["why"],
            "line 10, 'elsewhere': the proposed source:1: 'matmul/again' is of family matmul, and this campaign is of "
            "copy; write 'copy/NAME', or leave the apo:variant line out");
  EXPECT_EQ(proposals[10]["why"].get<std::string>().substr(0, 39), "line 11, 'extra': unknown key 'notes'; ")
      << proposals[10];
}

// What a proposer writes is text wherever it is shown.
void check_report(const Workplace& place) {
  const Ran html = place.apo({"report", "--format", "html", "--output", "-"});
  EXPECT_EQ(html.exit_code, 0) << html.err;
  EXPECT_NE(html.out.find("Proposers"), std::string::npos);
  EXPECT_EQ(html.out.find("<script>alert"), std::string::npos);
  const Ran markdown = place.apo({"report", "--output", "-"});
  EXPECT_EQ(markdown.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(markdown.out.find("[x](javascript"), std::string::npos);
  EXPECT_EQ(markdown.out.find("<script>alert"), std::string::npos);
}

TEST(Proposers, AnswersAreJudgedAsAnyCandidateAndFaultsEndNoCampaign) {
  const Workplace place;
  const std::string right = std::string(kCopyHead) +
                            " for (int k = 0; k < 8; ++k) { __builtin_memcpy(y, x, 4 * n);"
                            " __asm__ volatile(\"\" ::: \"memory\"); } }\n";
  const std::vector<Json> answer = {
      {{"source", std::string(kCopyHead) + " for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }\n"},
       {"name", "../wrong"},
       {"author", "somebody"},
       {"idea", "\x1b[31m</td><script>alert(1)</script> [x](javascript:alert(2)) | \n// apo:launch evil"},
       {"predict", {{"low", 9}, {"high", 11}, {"because", "no\nreason\n// apo:tune EVIL 1"}}}},
      {{"source", right}, {"name", "right"}, {"techniques", {"memcpy"}}, {"predict", {{"low", 8}, {"high", 9}}}},
      {{"source", "// The same once more.\n" + right}},
      {{"source",
        "// apo:variant copy/again\n// apo:target host\n// apo:predict 4x..5x over parent: said in the block\n" +
            replaced(right, "4 * n", "sizeof(float) * n")}},
      {{"source", replaced(Workplace::variant("other"), "  for", "  /* the baseline */\n\n  for")}},
      {{"variant", "copy/parallel[KILOBYTES_PER_THREAD=3]"}},
      {{"source", "// apo:parent copy/nobody\n" + right + "// more\nint unused;\n"}},
      {{"source", "__global__ void k() {}\n"}},
      {{"source", "#include </etc/passwd>\n" + right}},
      {{"source", "// apo:variant matmul/again\n" + right}, {"name", "elsewhere"}},
      {{"source", right}, {"name", "extra"}, {"notes", "none"}},
      {{"tokens", 77}}};
  const Ran ran = place.apo(run_with({printing(place, "answer", answer), "sleep 98765 & sleep 98765", "kill -9 $$",
                                      "echo out of tokens >&2; exit 3", "yes", "cat >/dev/null"}),
                            240);
  if (too_restless(ran)) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json summary = only_document(ran);
  const Json& calls = summary["proposer_calls"];
  ASSERT_EQ(calls.size(), 6U);
  EXPECT_EQ(calls[0]["cost"]["tokens"], 77);
  EXPECT_EQ((ran.out + ran.err).find("root:"), std::string::npos) << "no compiler has read what is no header";
  check_proposals(calls[0]["proposals"]);
  check_faults(calls);

  const Json& experiments = summary["iterations"][0]["experiments"];
  ASSERT_GE(experiments.size(), 2U);
  EXPECT_EQ(experiments[0]["candidate"]["variant"].get<std::string>().substr(0, 11), "copy/wrong_") << experiments[0];
  EXPECT_EQ(experiments[0]["outcome"], "incorrect");
  EXPECT_EQ(experiments[1]["candidate"]["variant"].get<std::string>().substr(0, 11), "copy/right_") << experiments[1];
  EXPECT_EQ(experiments[1]["outcome"], "valid");
  if (experiments[1]["judgement"]["verdict"] == "reverted") {
    EXPECT_EQ(experiments[2]["outcome"], "no_change") << experiments[2];
    EXPECT_NE(experiments[2].dump().find("machine code identical to that of experiment 2"), std::string::npos);
  }
  check_report(place);

  const auto files = [&](const std::string& folder) {
    return std::distance(std::filesystem::directory_iterator(place.path(folder)), {});
  };
  EXPECT_EQ(files(".apo/proposals/copy"), 3 - static_cast<long>(experiments.size())) << "what was judged is gone";
  EXPECT_EQ(files(".apo/variants/copy"), 1) << "the right one is registered, the wrong one is in the journal alone";
  EXPECT_NE(place.apo({"show", experiments[0]["candidate"]["variant"]}).out.find("alert(1)"), std::string::npos);
}

TEST(Proposers, WhatWasWrongWithTheLastAnswerIsToldAndStandsInTheNextCampaignsFirstBrief) {
  const Workplace place;
  const auto run = [&](const std::string& proposer) {
    return place.apo({"run", "copy", "--workload", "n4k", "--baseline", "copy/simple", "--iterations", "1",
                      "--candidates", "1", "--proposer", proposer},
                     240);
  };
  const Json wrong = {{"source", std::string(kCopyHead) + " for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }\n"}};
  place.write("answer", "Let me think.\n{\"source\": \"cut\n{\"variant\": \"copy/paralel\"}\n" + wrong.dump() + "\n");
  const Ran first = run("cat '" + place.path("answer").string() + "'");
  if (too_restless(first)) {
    GTEST_SKIP() << first.err;
  }
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("3 proposals: 1 taken, 2 refused; line 1 is text and was passed over"), std::string::npos)
      << first.err;
  EXPECT_NE(first.err.find("refused: line 2: no JSON from byte 16 on"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("refused: line 3, 'copy/paralel': unknown variant"), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("\nproposals: 3: 1 judged (0 accepted, 0 not accepted, 1 wrong), 0 not judged, 0 repeated, "
                           "2 refused\n"),
            std::string::npos)
      << first.out;

  const Ran second = run("cat >'" + place.path("brief").string() + "'");
  if (too_restless(second)) {
    GTEST_SKIP() << second.err;
  }
  ASSERT_EQ(second.exit_code, 0) << second.err;
  const Json request = Json::parse(read_file(place.path("brief").string()))["request"];
  EXPECT_EQ(request["campaign"], 2);
  ASSERT_EQ(request["earlier_answers"].size(), 1U);
  const Json& answer = request["earlier_answers"][0];
  EXPECT_EQ(answer["campaign"], 1);
  EXPECT_EQ(answer["note"], "line 1 is text and was passed over");
  ASSERT_EQ(answer["proposals"].size(), 3U);
  EXPECT_EQ(answer["proposals"][0]["why"], "line 2: no JSON from byte 16 on: cut off, or not UTF-8");
  EXPECT_NE(answer["proposals"][1]["why"].dump().find("line 3, 'copy/paralel': "), std::string::npos) << answer;
}

TEST(Proposers, MutateChangesTheTextAndGoesOnWhereItStopped) {
  const Workplace place;
  const Ran research = place.apo({"research", "copy", "--workload", "n4k", "--json"});
  Json brief = only_document(research);
  ASSERT_EQ(brief["document"], "brief") << research.err;
  const auto answers = [&](int before) {
    const Json answered = {{"campaign", 2},
                           {"proposals", Json(static_cast<std::size_t>(before), Json{{"author", "mutate.py"}})}};
    const Json other = {{"campaign", 1}, {"proposals", Json::array({Json{{"author", "mutate.py"}}})}};
    brief["request"] = {{"campaign", 2}, {"candidates_at_most", 2}, {"earlier_answers", {other, answered}}};
    const ProcessResult run =
        run_process({"python3", APO_SOURCE_FOLDER "/examples/proposers/mutate.py"}, {.input = brief.dump()});
    EXPECT_TRUE(run.ok()) << run.error;
    std::vector<std::string> sources;
    for (const std::string& line : split(trim(run.output), '\n')) {
      sources.push_back(line.empty() ? "" : Json::parse(line)["source"].get<std::string>());
    }
    return sources;
  };
  const std::vector<std::string> first = answers(0);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_NE(first[0].find("__restrict__"), std::string::npos) << first[0];
  EXPECT_NE(first[1].find("#pragma GCC unroll 4"), std::string::npos) << first[1];
  EXPECT_EQ(answers(1)[0], first[1]);
  Json& sources = brief["sources"];
  sources = {{"simple.cpp", read_file(APO_SOURCE_FOLDER "/variants/matmul_bf16/simple.cpp")}};
  EXPECT_NE(answers(0)[0].find("\n#pragma GCC optimize(\"associative-math\""), std::string::npos) << "it has a sum";
  EXPECT_EQ(answers(1000), std::vector<std::string>{""}) << "nothing is left";
}

TEST(Proposers, MistakesOnTheCommandLineAreNamed) {
  const Workplace place;
  const Ran time = place.apo({"run", "copy", "--proposer", "true", "--proposer-time", "soon"});
  EXPECT_EQ(time.exit_code, 1);
  EXPECT_NE(time.err.find("--proposer-time 'soon' is not a duration"), std::string::npos) << time.err;
  EXPECT_EQ(place.apo({"run", "copy", "--proposer", ""}).exit_code, 1);
  EXPECT_EQ(place.apo({"run", "copy", "--proposer", "true", "--proposals", "0"}).exit_code, 1);
}

}  // namespace
}  // namespace apo
