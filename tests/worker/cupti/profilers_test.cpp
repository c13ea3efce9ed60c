// tests/worker/cupti/profilers_test.cpp - in which order CUPTI's profilers are called, and what becomes of their
// refusals; with a stand-in for CUPTI, since the real one needs a GPU.
#include "harness/worker/cupti/profilers.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "tests/injection/fake_profiler.h"

namespace apo {
namespace {

class Profilers : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("APO_CUPTI_LIBRARY", APO_FAKE_CUPTI, 1);
    void* const library = dlopen(APO_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    fake_ = reinterpret_cast<FakeProfilerFunction>(dlsym(library, "fake_profiler"))();
    launch_ = reinterpret_cast<void (*)(const char*, std::int64_t)>(dlsym(library, "launch_on_fake"));
    *fake_ = {};
  }
  void TearDown() override { unsetenv("APO_CUPTI_LIBRARY"); }

  std::string log() {
    std::string text = std::exchange(fake_->log, "");
    return text.empty() ? text : text.substr(0, text.size() - 1);
  }

  FakeProfiler* fake_ = nullptr;
  void (*launch_)(const char*, std::int64_t) = nullptr;
  ProfiledGpu gpu_{.uuid = "fake"};
};

class CounterCollections : public Profilers {
 protected:
  CounterReport collect(const std::vector<std::string>& metrics = {"a.sum"}) {
    const ProfiledCall call{.kernels = {{"k"}},
                            .are_kernels = are_kernels_,
                            .repeatable = repeatable_,
                            .prepare = [] { return cuda::kSuccess; },
                            .launch = [&] { return fault_; }};
    return collect_counters(gpu_, call, metrics, error_);
  }
  void expect_counted(const CounterReport& report) const {
    EXPECT_EQ(report.missing, "");
    ASSERT_EQ(report.launches.size(), 1U);
    EXPECT_EQ(report.launches[0].values, std::vector<double>{42});
  }

  std::vector<bool> are_kernels_ = {true};
  bool repeatable_ = true;
  cuda::Result fault_ = cuda::kSuccess;
  cuda::Result error_ = cuda::kSuccess;
};

// A session that saw its kernels' module unloaded would bring down the next launch.
TEST_F(CounterCollections, LeaveNoSessionAndNoProfilerBehind) {
  for (int i = 0; i < 2; ++i) {
    expect_counted(collect());
    EXPECT_EQ(log(), "initialize availability schedule enable config start stop start stop disable deinitialize");
  }
}

TEST_F(CounterCollections, RepeatAsManyPassesAsCuptiAsksFor) {
  fake_->passes = 3;
  expect_counted(collect());
  EXPECT_EQ(log(),
            "initialize availability schedule enable config start stop start stop start stop disable deinitialize");
}

TEST_F(CounterCollections, LeaveTheRepeatingToCuptiWhereACallCannotBeRepeated) {
  repeatable_ = false;
  expect_counted(collect());
  EXPECT_EQ(log(), "initialize availability schedule enable config-by-launch start stop disable deinitialize");
}

TEST_F(CounterCollections, OpenNoSessionForMetricsThatDoNotExist) {
  const CounterReport none = collect({"no.sum"});
  EXPECT_EQ(none.missing, "none of the metrics exists on this GPU");
  EXPECT_EQ(none.refused.size(), 1U);
  EXPECT_EQ(log().find("enable"), std::string::npos);
}

TEST_F(CounterCollections, AskABusyGpuAgain) {
  fake_->busy = 1;
  expect_counted(collect());
  EXPECT_EQ(log(),
            "initialize availability schedule enable config busy disable enable config start stop start stop disable "
            "deinitialize");
}

TEST_F(CounterCollections, LeaveNothingOpenAfterAFault) {
  fault_ = 700;
  EXPECT_TRUE(collect().launches.empty());
  EXPECT_EQ(error_, 700);
  EXPECT_EQ(log(), "initialize availability schedule enable config start stop disable deinitialize");
}

TEST_F(CounterCollections, DoNotTakeALaunchTooFewForACount) {
  fake_->ranges = 0;
  const CounterReport report = collect();
  EXPECT_EQ(report.missing, "CUPTI counted 0 launches of 1 and dropped 0");
  EXPECT_TRUE(report.launches.empty());
}

TEST_F(CounterCollections, OfARecordedCallMayHaveRangesOfItsFills) {
  are_kernels_ = {false, true, false};
  expect_counted(collect());
  fake_->ranges = 3;
  expect_counted(collect());
  fake_->ranges = 2;
  EXPECT_EQ(collect().missing, "CUPTI counted 2 launches of 1 and dropped 0");
  EXPECT_EQ(kernel_ranges({false, true, false, true}, 2), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(kernel_ranges({false, true, false, true}, 4), (std::vector<std::size_t>{1, 3}));
}

class InstructionCounts : public Profilers {
 protected:
  // Of three launches: k, l and k again.
  InstructionReport count(const std::string& kernel = "") {
    const CountedCall call{.kernels = {{"k", 8}, {"l", 4}, {"k", 2}},
                           .keeps_state = keeps_state_,
                           .reload = [&] { return done("reload"); },
                           .prepare = [&] { return done("prepare"); },
                           .launch =
                               [&](std::size_t first, std::size_t end) {
                                 for (std::size_t i = first; i < end; ++i) {
                                   launch_(call_->kernels[i].name.c_str(), call_->kernels[i].warps);
                                 }
                                 return cuda::kSuccess;
                               },
                           .wait = [] { return cuda::kSuccess; }};
    call_ = &call;
    cuda::Result error = cuda::kSuccess;
    return count_instructions(gpu_, call, kernel, error);
  }
  cuda::Result done(const char* what) {
    fake_->log += std::string(what) + " ";
    return cuda::kSuccess;
  }
  static std::map<std::string, std::int64_t> warps(const InstructionReport& report) {
    std::map<std::string, std::int64_t> found;
    for (const InstructionCount& one : report.instructions) {
      found[one.kernel] += one.values[kWarps];
    }
    return found;
  }

  const CountedCall* call_ = nullptr;
  bool keeps_state_ = false;
  const std::map<std::string, std::int64_t> all_ = {{"k", 10}, {"l", 4}};
};

TEST_F(InstructionCounts, AreOfAllKernelsAtOnceWhereCuptiCountsThem) {
  const InstructionReport report = count();
  EXPECT_EQ(report.missing, "");
  EXPECT_EQ(warps(report), all_);
  EXPECT_EQ(log(), "initialize prepare set lazily reload k l k flush off unset");
  EXPECT_EQ(report.attempts, std::vector<std::string>{"patched as they run: k 10 of 10 warps, l 4 of 4 warps"});
}

TEST_F(InstructionCounts, OfAllKernelsAreRefusedWhereASessionCountsOnlyTheFirst) {
  fake_->most_kernels = 1;
  const InstructionReport report = count();
  EXPECT_TRUE(report.instructions.empty());
  EXPECT_EQ(report.missing, "CUPTI did not count all kernels: patched as they run: k 10 of 10 warps, l 0 of 4 warps");
  EXPECT_EQ(log(), "initialize prepare set lazily reload k l k flush off unset");
}

TEST_F(InstructionCounts, OfAKernelThatFollowsOthersWhichLeaveStateAreTakenWithoutAReload) {
  keeps_state_ = true;
  const InstructionReport report = count("l");
  EXPECT_EQ(warps(report), (std::map<std::string, std::int64_t>{{"l", 4}}));
  ASSERT_EQ(report.attempts.size(), 2U);
  EXPECT_NE(report.attempts[0].find("a reload would reset"), std::string::npos) << report.attempts[0];
  EXPECT_EQ(report.attempts[1], "in the module loaded before: l 4 of 4 warps");
}

TEST_F(InstructionCounts, AreOnlyThoseOfTheKernelThatIsAskedFor) {
  const InstructionReport report = count("l");
  EXPECT_EQ(report.missing, "");
  EXPECT_EQ(warps(report), (std::map<std::string, std::int64_t>{{"l", 4}}));
  EXPECT_EQ(log(), "initialize prepare reload k set lazily reload l flush off unset");
  EXPECT_EQ(count("m").missing, "the call has no kernel 'm'");
}

// Twice the warps that were launched: something was counted twice.
TEST_F(InstructionCounts, ThatDoNotFitTheLaunchAreNotBelievedAndEveryAttemptIsSaid) {
  fake_->times = 2;
  const InstructionReport report = count("l");
  EXPECT_TRUE(report.instructions.empty());
  EXPECT_EQ(
      report.missing,
      "CUPTI did not count all kernels: patched as they run: l 8 of 4 warps; in the module loaded before: l 8 of 4 "
      "warps");
}

TEST_F(InstructionCounts, EndWithoutTheirConfigurationBeingTakenFromUnderTheKernels) {
  fake_->disables = false;
  const InstructionReport report = count();
  EXPECT_EQ(warps(report), all_) << "what was counted stays counted";
  EXPECT_EQ(log(), "initialize prepare set lazily reload k l k flush stays-on stays-on");
}

}  // namespace
}  // namespace apo
