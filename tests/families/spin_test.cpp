// tests/families/spin_test.cpp - the family `spin`: what it computes, and that its length is what its steps say.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/closeness.h"
#include "tests/shipped_families.h"

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

TEST(Spin, TheReferenceIsTheWalkStepByStepAndEveryOtherNumberIsRefused) {
  const Family& family = *find_family("spin");
  for (const std::int64_t steps : {1, 2, 7, 1000, 65537}) {
    const Axes axes = {{"n", 40}, {"steps", steps}};
    const TensorMap inputs = family.fill(axes, 3, "typical", 1);
    const TensorMap expected = family.reference(axes, inputs, {}, 1);
    const TensorMap noise = family.noise(axes, inputs, expected, {}, 1);
    const std::vector<double>& y = expected.at("y");
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_GE(inputs.at("x")[i], 1) << "0 would stay 0";
      EXPECT_EQ(y[i], walked(inputs.at("x")[i], steps)) << steps << " steps, element " << i;
      for (const float other : {-INFINITY, INFINITY}) {
        std::vector<double> wrong = y;
        wrong[i] = std::nextafter(static_cast<float>(y[i]), other);
        EXPECT_FALSE(closeness(family.tolerance("y", axes), y, noise.at("y"), wrong).holds()) << wrong[i];
      }
    }
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
