// tests/cuda/profile_application_test.cpp - applications on a real GPU, profiled through the injected library.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>

#include "harness/applications/run_application.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
namespace {

constexpr int kNoGpu = 77;  // launcher_program's exit code

class ProfiledApplication : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_process({APO_LAUNCHER_PROGRAM, ""}).exit_code == kNoGpu) {
      GTEST_SKIP() << "no usable GPU";
    }
  }
  void run(const std::string& mode) {
    profile_ = run_application({APO_LAUNCHER_PROGRAM, mode, numbers_file()}, false);
    summary_ = summarise(profile_, Categories::for_pytorch());
    for (const std::string& note : profile_.notes) {
      std::cout << "  note: " << note << "\n";
    }
  }
  // By the readable name; zeros when it is not there.
  GpuWork work(const std::string& name) const {
    for (const WorkRow& row : summary_.work) {
      if (row.work.name == name) {
        return row.work;
      }
    }
    return {};
  }
  double number(const std::string& name) const {
    std::ifstream stream(numbers_file());
    std::string word;
    double value = 0;
    while (stream >> word >> value) {
      if (word == name) {
        return value;
      }
    }
    return 0;
  }
  std::string numbers_file() const { return (folder_.path() / "numbers").string(); }

  TemporaryFolder folder_;
  ApplicationProfile profile_;
  ApplicationSummary summary_;
};

constexpr const char* kLong = "spin_long(unsigned long long*, unsigned long long)";
constexpr const char* kShort = "spin_short";

TEST_F(ProfiledApplication, HasEveryKernelCopyAndFillUnderItsName) {
  run("all");
  EXPECT_EQ(profile_.exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_EQ(profile_.processes[0].missing, "");
  EXPECT_TRUE(profile_.processes[0].complete);
  EXPECT_EQ(work(kLong).calls, 50);
  EXPECT_EQ(work(kShort).calls, 249);
  EXPECT_EQ(work("memcpy HtoD").calls, 10);
  EXPECT_EQ(work("memcpy HtoD").bytes, 10 * (std::int64_t{4} << 20));
  EXPECT_EQ(work("memset").calls, 5);
  EXPECT_EQ(summary_.work.front().work.name, kLong) << "by time";
  EXPECT_GT(summary_.idle_share(), 0);
  EXPECT_LE(summary_.busy_ns, summary_.total_ns);
}

TEST_F(ProfiledApplication, TimesAgreeWithTheApplicationsOwnEvents) {
  run("all");
  const GpuWork spin = work(kLong);
  ASSERT_EQ(spin.calls, 50);
  // Without the first call, for which the clock was still low: the events leave it out too.
  const double mean = static_cast<double>(spin.total_ns - spin.max_ns) / 49;
  std::cout << "  events " << number("long_mean_ns") << " ns, profile " << mean << " ns\n";
  EXPECT_NEAR(mean / number("long_mean_ns"), 1, 0.05);
}

// The best of some processes each, taken in turns: from one process to the next a launch varies by half a microsecond.
TEST_F(ProfiledApplication, IsNotHeldUpAtEachLaunch) {
  double plain = std::numeric_limits<double>::infinity();
  double profiled = plain;
  for (int turn = 0; turn < 4; ++turn) {
    ASSERT_TRUE(run_process({APO_LAUNCHER_PROGRAM, "cost", numbers_file()}).ok());
    plain = std::min(plain, number("launch_ns"));
    run("cost");
    profiled = std::min(profiled, number("launch_ns"));
  }
  std::cout << "  a launch costs " << plain << " ns plain, " << profiled << " ns profiled: " << profiled / plain
            << "x\n";
  EXPECT_GT(plain, 0);
  EXPECT_LT(profiled, 10 * plain) << "as if it waited for every launch";
  EXPECT_EQ(work(kShort).calls, 60 * 500);
}

// Without the NVTX header the program has no such mode, and its recording no range.
TEST_F(ProfiledApplication, HasItsTimeByNvtxRanges) {
  run("ranges");
  if (work(kShort).calls == 0) {
    GTEST_SKIP() << "built without the NVTX header";
  }
  EXPECT_EQ(work(kShort).calls, 37);
  ASSERT_EQ(summary_.ranges.size(), 2U);
  EXPECT_EQ(summary_.ranges[0].path, "step");
  EXPECT_EQ(summary_.ranges[0].entered, 5);
  EXPECT_EQ(summary_.ranges[0].calls, 30);
  EXPECT_EQ(summary_.ranges[1].path, "step / forward");
  EXPECT_EQ(summary_.ranges[1].entered, 5);
  EXPECT_EQ(summary_.ranges[1].calls, 20);
  EXPECT_EQ(summary_.ranges[1].own_ns, summary_.ranges[1].total_ns);
  EXPECT_NEAR(summary_.ranges[0].share, 30.0 / 37, 0.1);
}

TEST_F(ProfiledApplication, PaysLittleMoreForALaunchInARange) {
  ASSERT_TRUE(run_process({APO_LAUNCHER_PROGRAM, "cost_in_range", numbers_file()}).ok());
  const double plain = number("launch_ns");
  run("cost_in_range");
  if (work(kShort).calls == 0) {
    GTEST_SKIP() << "built without the NVTX header";
  }
  std::cout << "  a launch in a range costs " << plain << " ns plain, " << number("launch_ns") << " ns profiled\n";
  EXPECT_LT(number("launch_ns") - plain, 3'000);
  EXPECT_EQ(summary_.ranges.at(0).calls, 60 * 500);
}

TEST_F(ProfiledApplication, LosesNoneOfManyLaunches) {
  run("many");
  EXPECT_EQ(work(kShort).calls, 200'000);
  EXPECT_EQ(profile_.processes.at(0).dropped, 0);
}

TEST_F(ProfiledApplication, ThatForksIsRecordedOnce) {
  run("fork");
  EXPECT_EQ(profile_.exit_code, 0);
  EXPECT_EQ(profile_.processes.size(), 1U);
  EXPECT_EQ(work(kShort).calls, 20);
}

TEST_F(ProfiledApplication, OfSeveralProcessesIsSummedUp) {
  run("children");
  EXPECT_EQ(profile_.exit_code, 0);
  EXPECT_EQ(profile_.processes.size(), 2U);
  EXPECT_EQ(work(kShort).calls, 20);
}

TEST_F(ProfiledApplication, ThatLeavesByExitKeepsWhatRanBefore) {
  run("_exit");
  EXPECT_EQ(profile_.exit_code, 4);
  EXPECT_FALSE(profile_.processes.at(0).complete);
  EXPECT_EQ(work(kShort).calls, 10);
}

TEST_F(ProfiledApplication, ThatStartsCudaAndLaunchesNothingSaysSo) {
  run("nothing");
  EXPECT_EQ(profile_.exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_TRUE(profile_.processes[0].complete);
  EXPECT_EQ(summary_.total_ns, 0);
}

TEST_F(ProfiledApplication, ThatNeverWaitsForItsKernelsIsStillRecorded) {
  run("no_wait");
  EXPECT_EQ(work(kShort).calls, 1);
}

}  // namespace
}  // namespace apo
