// tests/loop/scan/builds_ahead_test.cpp - what is built can be taken while the rest builds; what goes wrong ends it.
#include "harness/loop/scan/builds_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "harness/core/error.h"

namespace apo {
namespace {

constexpr auto kNever = BuildsAhead::Time::max();

Configuration of_copy(const std::string& name) {
  return {"copy/" + name, {}};
}

TEST(BuildsAhead, WhatIsBuiltIsTakenWhileTheRestBuilds) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  BuildsAhead builds(
      [&](const Configuration& one) -> Build {
        if (one == of_copy("slow")) {
          gone.wait();
        } else if (one == of_copy("wrong")) {
          throw UserError("its settings are none", "");
        }
        return {.key = one.label()};
      },
      2, {});
  for (const char* name : {"slow", "quick", "wrong"}) {
    builds.add(of_copy(name));
  }
  std::vector<TimedArm> taken;
  while (taken.size() < 2) {
    for (const TimedArm& arm : builds.take(1, kNever)) {
      taken.push_back(arm);
    }
  }
  std::ranges::sort(taken, {}, [](const TimedArm& arm) { return arm.configuration.label(); });
  EXPECT_EQ(taken[0].build.key, "copy/quick");
  EXPECT_EQ(taken[1].build.outcome, Outcome::refused);
  EXPECT_EQ(builds.added(), std::vector{of_copy("slow")});
  go.set_value();
  EXPECT_EQ(builds.take(9, kNever).front().build.key, "copy/slow");
  EXPECT_TRUE(builds.added().empty());
  EXPECT_TRUE(builds.take(1, kNever).empty());
}

// The build, which has begun, ends by the stop alone.
TEST(BuildsAhead, WhatIsNotBuiltWhenItIsLateIsStopped) {
  std::stop_source stop;
  std::promise<void> begun;
  bool stopped = false;
  {
    BuildsAhead builds(
        [&](const Configuration&) -> Build {
          begun.set_value();
          while (!stop.stop_requested()) {
            std::this_thread::yield();
          }
          stopped = stop.stop_requested();
          throw Cancelled();
        },
        1, stop);
    builds.add(of_copy("endless"));
    begun.get_future().wait();
    EXPECT_TRUE(builds.take(1, std::chrono::steady_clock::now()).empty());
    EXPECT_EQ(builds.added(), std::vector{of_copy("endless")});
  }
  EXPECT_TRUE(stopped);
}

TEST(BuildsAhead, AMachineThatFailsIsThrownAndBuildsThatHaveNotBegunAreLeftOut) {
  std::atomic<int> begun = 0;
  {
    BuildsAhead builds(
        [&](const Configuration&) -> Build {
          ++begun;
          throw EnvironmentError("no compiler", "");
        },
        1, {});
    for (int i = 0; i < 9; ++i) {
      builds.add(of_copy(std::to_string(i)));
    }
    EXPECT_THROW(builds.take(9, kNever), EnvironmentError);
  }
  EXPECT_EQ(begun, 1);
}

}  // namespace
}  // namespace apo
