// tests/examples/e88_lm/dispatch_test.cpp - the tables that apo exports, as the language model reads them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "data/error.h"
#include "dispatch/command.h"
#include "dispatch/table.h"
#include "harness/core/system/process.h"
#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm {
namespace {

const DeviceFacts kH200 = {
    .id = "", .model = "NVIDIA H200", .compute_capability = 90, .sms = 132, .shared_max = 232448, .max_threads = 1024};
const std::vector<std::int64_t> kProduction = {16, 512, 83, 32, 32, 1, 1};

// The tables of the recorded campaigns of both E88 families, in one folder.
class E88LmDispatch : public testing::Test {
 protected:
  void SetUp() override {
    setenv("E88_LM_CACHE", (folder_ / "cache").c_str(), 1);
    for (const std::string direction : {"forward", "backward"}) {
      const std::string journal =
          std::string(APO_SOURCE_FOLDER) + "/experiments/nvidia-h200/b16_t512_h83_n32/" + direction + ".db";
      const apo::ProcessResult result =
          apo::run_process({APO_PROGRAM, "export", "--dispatch", "e88_" + direction, "--journal", journal, "--output",
                            tables().string(), "--with-sources"},
                           {.timeout_s = 1000, .environment = {"APO_HOME=" APO_SOURCE_FOLDER}});
      ASSERT_EQ(result.exit_code, 0) << result.error;
    }
  }
  void TearDown() override { unsetenv("E88_LM_CACHE"); }

  std::filesystem::path tables() const { return folder_ / "tables of the model"; }

  const test::Folder folder_;
};

TEST_F(E88LmDispatch, TheTableChoosesWhatWasMeasuredAndSaysHowItIsLaunched) {
  const PlannedKernel backward = plan_kernel(tables(), "e88_backward", kProduction, kH200);
  EXPECT_EQ(backward.variant, "e88_backward/cuda_best");
  EXPECT_TRUE(std::filesystem::exists(backward.source));
  ASSERT_EQ(backward.launches.size(), 1U);
  EXPECT_EQ(backward.launches[0].grid[0], 121);
  EXPECT_EQ(backward.launches[0].shared_bytes, 226336);
  EXPECT_EQ(backward.scratch, (std::vector<std::int64_t>{21757952, 1359872}));
  EXPECT_EQ(backward.constants, (std::vector<std::string>{"kN=32", "kV=32", "kGATE=1", "kNORM=1", "SEQUENCES=11"}));
}

TEST_F(E88LmDispatch, SizesDevicesAndFamiliesWithoutARowAreErrorsAndOthersCompileOnce) {
  DeviceFacts other = kH200;
  other.compute_capability = 80;
  EXPECT_THROW(plan_kernel(tables(), "e88_forward", {64, 4096, 83, 32, 32, 1, 1}, kH200), UserError);
  EXPECT_THROW(plan_kernel(tables(), "e88_forward", kProduction, other), UserError);
  EXPECT_THROW(plan_kernel(tables(), "e88_sideways", kProduction, kH200), UserError);

  std::filesystem::rename(tables(), folder_ / "elsewhere");
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder_ / "cache"), std::filesystem::directory_iterator());
  };
  ASSERT_EQ(files(), 1);
  const PlannedKernel kernel = plan_kernel(folder_ / "elsewhere", "e88_forward", kProduction, kH200);
  EXPECT_EQ(files(), 1) << "the same table in another place is the same program";
  EXPECT_TRUE(std::filesystem::exists(kernel.source)) << "but its sources are where the table is now";
  if (run_command({"/usr/local/cuda/bin/nvcc", "--version"}).status == 0) {
    EXPECT_GT(std::filesystem::file_size(build_kernel(kernel, 90)), 1000U) << "a cubin";
  }
}

TEST(E88LmCommand, AFailedCompilationShowsItsLogAndLeavesNoFile) {
  const test::Folder folder;
  setenv("E88_LM_CACHE", folder.path().c_str(), 1);
  try {
    built({"g++", "no such file.cpp"}, {"key"});
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no such file.cpp"), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  unsetenv("E88_LM_CACHE");
}

TEST(E88LmCommand, WordsReachTheProgramAsTheyAre) {
  EXPECT_EQ(run_command({"printf", "%s|", "it's", "$HOME", "two words"}).output, "it's|$HOME|two words|");
}

}  // namespace
}  // namespace byte_lm
