// tests/cli/improve/evaluate_stream_test.cpp - candidates as JSON lines in, answers as JSON lines out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

constexpr double kStreamPatienceS = 120;
const std::vector<std::string> kStream = {"evaluate", "--stream", "--family", "copy", "--workload", "n4k"};

std::string source_of(const std::string& body) {
  return "void copy(const float* x, float* y, long n) {" + body + "}\n";
}

std::string line_of(const Json& candidate) {
  return candidate.dump() + "\n";
}

std::vector<Json> answers_of(const Ran& ran) {
  std::vector<Json> answers;
  for (const std::string& line : split(ran.out, '\n')) {
    if (!line.empty()) {
      answers.push_back(Json::parse(line, nullptr, false));
      EXPECT_EQ(answers.back().value("document", ""), "evaluation") << line;
    }
  }
  return answers;
}

TEST(EvaluateStream, EachLineGetsItsAnswerInOrderUnderOneCampaign) {
  const Workplace place;
  const std::string slow = source_of(
      " for (int k = 0; k < 8; ++k) { for (long i = 0; i < n; ++i) y[i] = x[i]; __asm__ volatile(\"\" ::: \"memory\"); "
      "}");
  const std::string wrong = source_of(" for (long i = 0; i < n; ++i) y[i] = x[i] + 1;");
  const Ran ran = place.apo_with_input(kStream,
                                       line_of({{"name", "first"}, {"source", wrong}}) +
                                           line_of({{"name", "second"}, {"source", slow}, {"judge", "quick"}}) +
                                           line_of({{"name", "third"}, {"source", source_of(" y[0] = z;")}}) +
                                           line_of({{"source", wrong}}) + line_of({{"variant", "copy/simple"}}),
                                       kStreamPatienceS);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> answers = answers_of(ran);
  ASSERT_EQ(answers.size(), 5U) << ran.out;
  EXPECT_EQ(answers[0]["name"], "first");
  EXPECT_EQ(answers[0]["verdict"], "wrong");
  EXPECT_EQ(answers[0]["wrong"]["tensor"], "y") << answers[0];
  EXPECT_EQ(answers[1]["name"], "second");
  EXPECT_EQ(answers[1]["verdict"], "ranked") << answers[1];
  EXPECT_GT(answers[1]["score"], 0.0);
  EXPECT_EQ(answers[1]["wrong"], nullptr);
  EXPECT_EQ(answers[2]["name"], "third");
  EXPECT_NE(answers[2]["feedback"].dump().find("'z' was not declared"), std::string::npos);
  EXPECT_TRUE(answers[3]["name"].is_null());
  EXPECT_EQ(answers[3]["variant"], answers[0]["variant"]) << "the same text is the same variant";
  EXPECT_EQ(answers[4]["verdict"], "incumbent");
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  EXPECT_EQ(journal.experiments(1).size(), 4U);
  EXPECT_FALSE(journal.campaign(2));
  EXPECT_EQ(journal.campaign(1)->state, CampaignState::finished);
}

TEST(EvaluateStream, ABadLineIsAnsweredAndTheStreamGoesOn) {
  const Workplace place;
  const std::string mebibyte(1 << 20, ' ');
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"nonsense", "not JSON"},
      {"", "not JSON"},
      {"[1, 2]", "no JSON object"},
      {R"({"name":"x"})", "a candidate has one of 'source' and 'variant'"},
      {R"({"source":""})", "a candidate has one of"},
      {R"({"source":"int x;","variant":"copy/simple"})", "a candidate has one of"},
      {R"({"variant":"copy/simpel"})", "did you mean 'copy/simple'?"},
      {R"({"variant":"copy/parallel[KILOBYTES_PER_THREAD=3]"})", "choose one of"},
      {R"({"file":"/etc/passwd"})", "unknown key 'file'"},
      {R"({"source":5})", "'source' is no text"},
      {R"({"source":"int x;","name":7})", "'name' is no text"},
      {"{\"source\":\"\xff\xfe\"}", "not JSON"},
      {"{\"source\":\"" + mebibyte + " \"}", "longer than 1048576 bytes"},
      {std::string(7 << 20, '['), "the line is longer than"},
      {std::string(1 << 20, '['), "not JSON"},
      {R"({"source":"int x;","extension":".rs"})", "'extension' is '.cpp', '.cu' or '.py'"},
      {R"({"source":"int x;","judge":"qick"})", "did you mean 'quick'?"},
      {R"({"source":"int x;","judg":"quick"})", "did you mean 'judge'?"},
      {R"({"source":"int \u0000x;"})", "NUL byte"},
      {R"({"source":"// apo:variant e88_backward/x\n"})", "not of family copy"},
  };
  std::string input;
  for (const auto& [line, what] : bad) {
    input += line + "\n";
  }
  const Ran ran =
      place.apo_with_input(kStream, input + R"({"source":"", "name":"the last has no end"})", kStreamPatienceS);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> answers = answers_of(ran);
  ASSERT_EQ(answers.size(), bad.size() + 1) << ran.out.substr(0, 2000);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(answers[i]["verdict"], "wrong");
    EXPECT_EQ(answers[i]["score"], 0.0);
    EXPECT_NE(answers[i]["feedback"].dump().find(bad[i].second), std::string::npos) << answers[i].dump().substr(0, 500);
  }
  EXPECT_EQ(answers.back()["name"], "the last has no end");
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db"))) << "nothing came to an experiment";
}

TEST(EvaluateStream, AnAnswerComesBeforeTheNextCandidate) {
  const Workplace place;
  const Ran ran = place.program({"bash", "-c",
                                 "coproc APO { apo evaluate --stream --family copy; }\n"
                                 "for name in one two; do\n"
                                 "  echo \"{\\\"name\\\": \\\"$name\\\"}\" >&${APO[1]}\n"
                                 "  read -r -t 30 answer <&${APO[0]} || exit 9\n"
                                 "  echo \"$answer\"\n"
                                 "done\n"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(answers_of(ran).size(), 2U) << ran.out;
}

TEST(EvaluateStream, AFileAndAStreamAreTwoCommands) {
  const Workplace place;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"evaluate", "x.cpp", "--stream", "--family", "copy"},
        std::vector<std::string>{"evaluate", "--family", "copy"},
        std::vector<std::string>{"evaluate", "--stream", "--family", "copy", "--at-least", "1"},
        std::vector<std::string>{"evaluate", "--stream", "--family", "coppy"}}) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err, "");
  }
}

}  // namespace
}  // namespace apo
