// tests/evaluate/rounds/next_tensors_test.cpp - tensors laid out ahead are those that would be laid out when they are
// needed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "harness/evaluate/rounds/open_sessions.h"
#include "harness/evaluate/rounds/session.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo {
namespace {

struct NextTensorsTest : ::testing::Test {
  NextTensorsTest() : runtime(copy.runtime()) {
    runtime.worker.target = Target::cuda;  // nothing here needs a GPU
    runtime.threads = 2;
    const Workload& workload = runtime.family->workloads.front();
    timed = {.name = workload.name, .axes = workload.axes, .pool = make_pool(runtime, workload, 7)};
    timed.incumbent.build.plan.launches.resize(1);
    timed.candidate.build.plan.launches.resize(1);
    timed.incumbent.configuration.variant = timed.candidate.configuration.variant = "copy/once";
  }

  // Where the tensors lie, and the inputs.
  static std::string described(const SharedTensors& shared_tensors) {
    std::string text;
    for (const BufferPlace& place : shared_tensors.layout().buffers) {
      text += std::to_string(place.offset) + " ";
      if (place.role == BufferRole::input) {
        std::string bytes(static_cast<std::size_t>(place.bytes), '\0');
        EXPECT_EQ(pread(shared_tensors.fd(), bytes.data(), bytes.size(), place.offset), std::ssize(bytes));
        text += bytes;
      }
    }
    return text;
  }

  testing::CopyRuntime copy;
  Runtime runtime;
  TimedWorkload timed;
};

TEST_F(NextTensorsTest, AreTheSameAheadAndWhenTheyAreNeeded) {
  const SessionDraw draw{.layout_seed = 11, .sets = {2, 0}};
  NextTensors late(runtime);
  const std::string expected = described(*late.take(timed, draw));
  NextTensors ahead(runtime);
  ahead.start(timed, draw);
  const auto first = ahead.take(timed, draw);
  ahead.start(timed, {.layout_seed = 12, .sets = {1, 2}});
  EXPECT_EQ(described(*first), expected) << "the next one is in memory of its own";
  EXPECT_FALSE(first->check_guards());
}

TEST_F(NextTensorsTest, OfAnotherDrawAreLaidOutAnew) {
  const SessionDraw draw{.layout_seed = 11, .sets = {2, 0}};
  NextTensors late(runtime);
  const std::string expected = described(*late.take(timed, draw));
  NextTensors ahead(runtime);
  for (const SessionDraw& other :
       {SessionDraw{.layout_seed = 12, .sets = {2, 0}}, SessionDraw{.layout_seed = 11, .sets = {1, 0}}}) {
    ahead.start(timed, other);
    EXPECT_EQ(described(*ahead.take(timed, draw)), expected);
  }
}

}  // namespace
}  // namespace apo
