// tests/cli/agents/lost_gpu_test.cpp - what `apo` says and keeps when the GPU is lost in the middle of a judgement.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "harness/implement/nvrtc.h"
#include "tests/cli/agents/mcp_client.h"
#include "tests/cli/workplace.h"
#include "tests/worker/cuda/losing_driver.h"

namespace apo {
namespace {

// A worker that begins after the loss finds no device at all.
bool names_the_loss(const std::string& text) {
  return text.find("GPU of a test") != std::string::npos || text.find("CUDA_ERROR_NO_DEVICE") != std::string::npos;
}

class LostGpuCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Nvrtc::load() == nullptr) {
      GTEST_SKIP() << "no NVRTC builds device variants here";
    }
    const std::string known = read_file(APO_SOURCE_FOLDER "/variants/copy/cuda_simple.cu");
    place_.write("mine.cu", replaced(replaced(known, "cuda_simple", "mine"), "a.y[i] = a.x[i]", "a.y[i] = 0 + a.x[i]"));
  }
  Ran apo(const std::vector<std::string>& words) const {
    return place_.apo_with_environment(words, {driver_.environment()});
  }

  Workplace place_;
  testing::LosingDriver driver_;
};

TEST_F(LostGpuCommand, EvaluateDoesNotJudgeAndGivesTheExperimentBack) {
  // The roofs are known from here on. This driver runs no kernel, so that no candidate is right.
  const Ran wrong = apo({"evaluate", "mine.cu", "--family", "copy"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
  driver_.plan("0 vanishes");
  const Ran ran = apo({"evaluate", "mine.cu", "--family", "copy", "--json"});
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  const auto document = only_document(ran);
  EXPECT_EQ(document["verdict"], "not_judged");
  EXPECT_TRUE(names_the_loss(document["feedback"].dump())) << document["feedback"];
  EXPECT_NE(document["feedback"].dump().find("apo doctor"), std::string::npos) << document["feedback"];
  const auto rows = only_document(apo({"query", "--json", "--sql", "SELECT why FROM abandonment"}));
  EXPECT_TRUE(names_the_loss(rows.dump())) << rows;
}

TEST_F(LostGpuCommand, ACampaignStopsAndIsResumed) {
  driver_.plan("0 vanishes");
  const std::vector<std::string> run = {"run", "copy", "--target", "cuda", "--iterations", "1"};
  const Ran lost = apo(run);
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_NE(lost.err.find("GPU of a test"), std::string::npos) << lost.err;
  EXPECT_NE(lost.err.find("the same command goes on"), std::string::npos) << lost.err;
  driver_.bring_back();
  const Ran again = apo(run);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("resuming campaign"), std::string::npos) << again.err;
}

TEST_F(LostGpuCommand, AGateFailsAndSaysNothingOfTheVariants) {
  const std::string file = ".apo/variants/copy/mine.cu";
  std::filesystem::create_directories(place_.path(file).parent_path());
  const std::string text = read_file(place_.path("mine.cu"));
  place_.write(file, text);
  ASSERT_EQ(apo({"gate", "--store", "baseline.json", "copy/mine"}).exit_code, 0);
  place_.write(file, replaced(text, "0 + a.x[i]", "a.x[i] + 1"));
  driver_.plan("0 vanishes");
  const Ran ran = apo({"gate", "--baseline", "baseline.json"});
  EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("GPU of a test"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.out.find("undecided"), std::string::npos) << ran.out;
}

TEST_F(LostGpuCommand, TheAgentsServerAnswersWithAnErrorThatNamesTheFix) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string environment = driver_.environment();
  setenv("LD_LIBRARY_PATH", environment.substr(environment.find('=') + 1).c_str(), 1);
  McpClient client(place_);
  before == nullptr ? unsetenv("LD_LIBRARY_PATH") : setenv("LD_LIBRARY_PATH", before, 1);
  driver_.plan("0 vanishes");
  const auto answer = client.finished("evaluate", {{"path", "mine.cu"}, {"family", "copy"}});
  EXPECT_TRUE(answer.value("isError", false)) << answer;
  EXPECT_EQ(answer["structuredContent"]["result"]["verdict"], "not_judged") << answer;
  EXPECT_NE(answer["content"].dump().find("nvidia-smi"), std::string::npos) << answer["content"];
}

}  // namespace
}  // namespace apo
