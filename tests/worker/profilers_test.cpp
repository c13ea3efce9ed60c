// tests/worker/profilers_test.cpp - in which order CUPTI's profilers are called, and what becomes of their refusals;
// with a stand-in for CUPTI, since the real one needs a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "harness/worker/counters.h"
#include "harness/worker/instruction_counts.h"
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
  CounterReport collect(bool more, const std::vector<std::string>& metrics = {"a.sum"}, int repetitions = 1) {
    const ProfiledCall call{.kernels = {"k"},
                            .repeatable = repeatable_,
                            .prepare = [] { return cuda::kSuccess; },
                            .launch = [&] { return fault_; }};
    return collector_.collect(gpu_, call, metrics, repetitions, more, error_);
  }
  void expect_counted(const CounterReport& report) const {
    EXPECT_EQ(report.missing, "");
    ASSERT_EQ(report.launches.size(), 1U);
    EXPECT_EQ(report.launches[0].values, std::vector<double>{42});
  }
  bool has_step(const CounterReport& report, const std::string& words) const {
    return std::any_of(report.steps.begin(), report.steps.end(),
                       [&](const CountingStep& one) { return one.what.find(words) != std::string::npos; });
  }

  CounterCollector collector_;
  bool repeatable_ = true;
  cuda::Result fault_ = cuda::kSuccess;
  cuda::Result error_ = cuda::kSuccess;
};

TEST_F(CounterCollections, ASessionServesTheNextCallWhereOneFollows) {
  expect_counted(collect(true));
  EXPECT_EQ(log(), "initialize availability schedule enable config start stop start stop");
  expect_counted(collect(true));
  EXPECT_EQ(log(), "config start stop start stop");
  expect_counted(collect(false));
  EXPECT_EQ(log(), "config start stop start stop disable");
  expect_counted(collect(false));
  EXPECT_EQ(log(), "enable config start stop start stop disable");
  collector_.release();
  EXPECT_EQ(log(), "deinitialize");
  collector_.release();
  EXPECT_EQ(log(), "") << "there is nothing left to let go";
  expect_counted(collect(false));
  EXPECT_EQ(log(), "initialize schedule enable config start stop start stop disable");
}

TEST_F(CounterCollections, RepetitionsOfACallShareASession) {
  EXPECT_EQ(collect(false, {"a.sum"}, 3).launches.size(), 3U);
  EXPECT_EQ(log(),
            "initialize availability schedule enable config start stop start stop config start stop start stop config "
            "start stop start stop disable");
}

TEST_F(CounterCollections, ASessionThatTakesNoOtherCallIsReplaced) {
  fake_->renews = false;
  expect_counted(collect(true));
  log();
  const CounterReport second = collect(true);
  expect_counted(second);
  EXPECT_EQ(log(), "refused refused disable enable config start stop start stop");
  EXPECT_TRUE(has_step(second, "a new session, since the open one took no other call: configuring the counters"));
}

// What was not counted must not be read as zeros.
TEST_F(CounterCollections, AUsedSessionThatEndsAfterFewerPassesIsNotBelieved) {
  fake_->passes = 3;
  fake_->passes_of_renewed = 1;
  expect_counted(collect(true));
  log();
  const CounterReport second = collect(true);
  expect_counted(second);
  EXPECT_EQ(log(), "config start stop disable enable config start stop start stop start stop");
  EXPECT_TRUE(has_step(second, "it ended after 1 passes instead of 3"));
}

TEST_F(CounterCollections, ACallThatCuptiRepeatsItselfHasASessionOfItsOwn) {
  repeatable_ = false;
  expect_counted(collect(true));
  EXPECT_EQ(log(), "initialize availability schedule enable config-by-launch start stop");
  expect_counted(collect(true));
  EXPECT_EQ(log(), "disable enable config-by-launch start stop");
}

TEST_F(CounterCollections, OtherMetricsHaveASessionOfTheirOwn) {
  expect_counted(collect(true));
  log();
  expect_counted(collect(true, {"b.sum"}));
  EXPECT_EQ(log(), "disable schedule enable config start stop start stop");
  const CounterReport none = collect(true, {"no.sum"});
  EXPECT_EQ(none.missing, "none of the metrics exists on this GPU");
  EXPECT_EQ(none.refused.size(), 1U);
  EXPECT_EQ(log(), "disable deinitialize");
}

TEST_F(CounterCollections, ABusyGpuIsAskedAgain) {
  fake_->busy = 1;
  expect_counted(collect(false));
  EXPECT_EQ(log(),
            "initialize availability schedule enable config busy disable enable config start stop start stop disable");
}

TEST_F(CounterCollections, AFaultLeavesNothingOpen) {
  expect_counted(collect(true));
  log();
  fault_ = 700;
  EXPECT_TRUE(collect(true).launches.empty());
  EXPECT_EQ(error_, 700);
  EXPECT_EQ(log(), "config start stop disable deinitialize");
}

TEST_F(CounterCollections, ALaunchTooFewIsNoCount) {
  fake_->ranges = 0;
  EXPECT_EQ(collect(false).missing, "CUPTI counted 0 launches of 1 and dropped 0");
}

class InstructionCounts : public Profilers {
 protected:
  // Of three launches: k, l and k again.
  InstructionReport count(const std::string& kernel = "") {
    const CountedCall call{.kernels = {"k", "l", "k"},
                           .warps = {8, 4, 2},
                           .keeps_state = keeps_state_,
                           .reload = [&] { return done("reload"); },
                           .prepare = [&] { return done("prepare"); },
                           .launch =
                               [&](std::size_t first, std::size_t end) {
                                 for (std::size_t i = first; i < end; ++i) {
                                   launch_(call_->kernels[i].c_str(), call_->warps[i]);
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
