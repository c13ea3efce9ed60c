// tests/loop/workspace/nearest_workload_test.cpp - the border as an expression against the distances themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/core/expression/expression.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

const Family& backward() {
  return *find_family("e88_backward");
}

const Axes& axes_of(const std::string& workload) {
  return find_workload(backward(), workload)->axes;
}

TEST(NearestWorkload, TheBorderOfTwoSizesIsHalfWayInTheLogarithms) {
  EXPECT_EQ(nearer_condition(backward(), axes_of("b8_t128_h83_n32"), axes_of("b1_t16384_h83_n32")),
            "min(max(T,128),16384) <= min(max(B,1),8)*512");
  EXPECT_EQ(nearer_condition(backward(), axes_of("b1_t16384_h83_n32"), axes_of("b8_t128_h83_n32")),
            "min(max(B,1),8)*512 <= min(max(T,128),16384)");
}

TEST(NearestWorkload, AnAxisThatMayBeZeroHasADistanceToo) {
  Axes with_gate = axes_of("b1_t32_h2_n32");
  Axes without = with_gate;
  without["GATE"] = 0;
  EXPECT_DOUBLE_EQ(distance(backward(), with_gate, without), std::log(2.0));
  EXPECT_NE(evaluate(nearer_condition(backward(), with_gate, without), with_gate), 0);
  EXPECT_EQ(evaluate(nearer_condition(backward(), with_gate, without), without), 0);
}

TEST(NearestWorkload, TheConditionAgreesWithTheDistancesOnEverySizeOffTheBorder) {
  std::mt19937 random(1);
  const auto draw = [&](std::int64_t most) {
    std::uniform_real_distribution<double> log(0, std::log(static_cast<double>(most)));
    return static_cast<std::int64_t>(std::exp(log(random)));
  };
  int checked = 0;
  for (const Workload& one : backward().workloads) {
    for (const Workload& other : backward().workloads) {
      const std::string condition = nearer_condition(backward(), one.axes, other.axes);
      for (int i = 0; i < 20; ++i) {
        const Axes axes = {{"B", draw(64)},  {"T", draw(32768)}, {"H", draw(400)}, {"N", draw(128)},
                           {"V", draw(128)}, {"GATE", 1},        {"NORM", 1}};
        const double gap = distance(backward(), axes, other.axes) - distance(backward(), axes, one.axes);
        if (std::abs(gap) > 0.01) {
          EXPECT_EQ(evaluate(condition, axes) != 0, gap > 0) << one.name << " " << other.name << " " << condition;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 5000);
}

}  // namespace
}  // namespace apo
