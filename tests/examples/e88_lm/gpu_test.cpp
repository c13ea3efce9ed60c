// tests/examples/e88_lm/gpu_test.cpp - the program on a GPU; every test skips itself where there is none.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "dispatch/command.h"
#include "tests/examples/e88_lm/exported_tables.h"

namespace byte_lm {
namespace {

class E88LmGpu : public test::ExportedTables {
 protected:
  void SetUp() override {
    if (const Ran gpus = run_command({"nvidia-smi", "-L"}); gpus.output.find("NVIDIA H200") == std::string::npos) {
      GTEST_SKIP() << "the recorded tables are for an NVIDIA H200";
    }
    if (!std::filesystem::exists(kProgram)) {
      GTEST_SKIP() << "E88LmBuild.GpuPathCompilesAndLinks builds the program";
    }
    ExportedTables::SetUp();
  }

  apo::ProcessResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), kProgram);
    return apo::run_process(words, {.timeout_s = 1000, .environment = {"APO_DISPATCH=" + tables().string()}});
  }

  std::vector<double> losses(int steps, std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--dim", "64", "--depth", "2", "--heads", "3", "--batch", "2", "--length", "48",
                               "--steps", std::to_string(steps), std::string(APO_SOURCE_FOLDER) + "/harness"});
    const apo::ProcessResult result = run(flags);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    std::vector<double> all;
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(nlohmann::json::parse(line).at("loss").get<double>());
    }
    return all;
  }

  static constexpr const char* kProgram = APO_BINARY_FOLDER "/e88_lm/e88_lm";
};

TEST_F(E88LmGpu, EveryOperationAndGradientIsThatOfTheHost) {
  const apo::ProcessResult result = run({"--check"});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
}

TEST_F(E88LmGpu, ARunOfASeedGivesTheSameBitsAndSoDoesItsGraph) {
  const std::vector<double> once = losses(6, {});
  ASSERT_EQ(once.size(), 6U);
  EXPECT_EQ(losses(6, {}), once);
  EXPECT_EQ(losses(6, {"--graph"}), once);
  const std::vector<double> fused = losses(6, {"--fused-projection"});
  EXPECT_NEAR(fused.at(0), once[0], 0.01);
}

TEST_F(E88LmGpu, AResumedTrainingContinuesBitForBit) {
  const std::string file = folder_ / "model.e88";
  const std::vector<double> whole = losses(6, {});
  losses(3, {"--checkpoint", file});
  const std::vector<double> rest = losses(6, {"--checkpoint", file, "--resume"});
  EXPECT_EQ(rest, std::vector<double>(whole.begin() + 3, whole.end()));
}

}  // namespace
}  // namespace byte_lm
