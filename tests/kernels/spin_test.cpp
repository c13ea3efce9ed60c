// tests/kernels/spin_test.cpp - the family `spin`: what it computes, and that its length is what its steps say.
#include <gtest/gtest.h>

#include "kernels/family.h"

namespace apo {
namespace {

double walked(double start, std::int64_t steps) {
  auto state = static_cast<std::uint32_t>(start);
  for (std::int64_t i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state >> 8;
}

TEST(Spin, TheReferenceIsTheWalkStepByStep) {
  const Family& family = *find_family("spin");
  for (const std::int64_t steps : {1, 2, 7, 1000, 65537}) {
    const Axes axes = {{"n", 40}, {"steps", steps}};
    const TensorMap inputs = family.fill(axes, 3, "typical", 1);
    const std::vector<double> y = family.reference(axes, inputs, {}, 1).at("y");
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(y[i], walked(inputs.at("x")[i], steps)) << steps << " steps, element " << i;
    }
  }
}

TEST(Spin, StartsAreNeverZeroWhichWouldStayZero) {
  const Family& family = *find_family("spin");
  const TensorMap inputs = family.fill({{"n", 100000}, {"steps", 1}}, 5, "typical", 1);
  for (const double x : inputs.at("x")) {
    ASSERT_GE(x, 1);
    ASSERT_LT(x, 1 << 24);
  }
}

TEST(Spin, ThousandthsOfTheStepsAreWholeStepsOnEveryTimedWorkload) {
  for (const Workload& workload : find_family("spin")->workloads) {
    if (workload.kind == WorkloadKind::production || workload.kind == WorkloadKind::extreme) {
      EXPECT_EQ(workload.axes.at("steps") % 1000, 0) << workload.name;
    }
  }
}

}  // namespace
}  // namespace apo
