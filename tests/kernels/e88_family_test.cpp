// tests/kernels/e88_family_test.cpp - the contracts of the E88 families: axes, units, inputs, workloads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "kernels/family.h"
#include "kernels/rounding.h"
#include "tests/kernels/e88_alternatives.h"

namespace apo {
namespace {

const Axes kRagged = e88_axes(2, 17, 3, 5, 4, 1, 1);

Axes with(Axes axes, const std::string& name, std::int64_t value) {
  axes[name] = value;
  return axes;
}

TensorMap all_inputs(const Family& family, const Axes& axes, std::uint64_t seed = 1, int threads = 1) {
  return e88_inputs(family, axes, "typical", seed, threads);
}

class BothE88Families : public ::testing::TestWithParam<const char*> {
 protected:
  const Family& family_ = *find_family(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Of, BothE88Families, ::testing::Values("e88_forward", "e88_backward"));

std::vector<std::string> names_of(const Family& family, Role role) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == role) {
      names.push_back(tensor.name);
    }
  }
  return names;
}

TEST(E88Family, AxesAndTensorsFollowTheContract) {
  const Family& forward = *find_family("e88_forward");
  std::vector<std::string> axes;
  std::vector<std::string> specialised;
  for (const AxisSpec& axis : forward.axes) {
    axes.push_back(axis.name);
    if (axis.specialised) {
      specialised.push_back(axis.name);
    }
  }
  EXPECT_EQ(axes, (std::vector<std::string>{"B", "T", "H", "N", "V", "GATE", "NORM"}));
  EXPECT_EQ(specialised, (std::vector<std::string>{"N", "V", "GATE", "NORM"}));
  EXPECT_EQ(names_of(forward, Role::input), (std::vector<std::string>{"k", "q", "v", "g", "decay", "s0"}));
  EXPECT_EQ(names_of(forward, Role::output), (std::vector<std::string>{"output", "checkpoints", "y_cache", "s_final"}));
  const Family& backward = *find_family("e88_backward");
  EXPECT_EQ(names_of(backward, Role::input),
            (std::vector<std::string>{"k", "q", "v", "g", "decay", "d_output", "d_s_final"}));
  EXPECT_EQ(names_of(backward, Role::derived_input), (std::vector<std::string>{"checkpoints", "y_cache"}));
  EXPECT_EQ(names_of(backward, Role::output), (std::vector<std::string>{"dk", "dq", "dv", "dg", "ddecay", "ds0"}));
}

TEST_P(BothE88Families, FunctionsReturnEveryTensorOfTheirRoleInItsShape) {
  const TensorMap inputs = all_inputs(family_, kRagged);
  const TensorMap expected = family_.reference(kRagged, inputs, {}, 1);
  const TensorMap honest = family_.honest(kRagged, inputs, {}, 1);
  const TensorMap noise = family_.noise(kRagged, inputs, expected, {}, 1);
  EXPECT_EQ(expected.size(), names_of(family_, Role::output).size());
  for (const TensorSpec& tensor : family_.tensors) {
    const auto count = static_cast<std::size_t>(element_count(tensor, kRagged));
    if (tensor.role != Role::output) {
      EXPECT_EQ(inputs.at(tensor.name).size(), count) << tensor.name;
      continue;
    }
    for (const TensorMap* outputs : {&expected, &honest, &noise}) {
      EXPECT_EQ(outputs->at(tensor.name).size(), count) << tensor.name;
    }
  }
}

TEST_P(BothE88Families, UnitsCoverEachElementExactlyOnce) {
  for (const TensorSpec& tensor : family_.tensors) {
    std::vector<int> seen(static_cast<std::size_t>(element_count(tensor, kRagged)));
    for (std::int64_t unit = 0; unit < family_.unit_count(kRagged); ++unit) {
      for (const ElementRun& run : family_.unit_elements(kRagged, tensor.name, unit)) {
        for (std::int64_t i = 0; i < run.count; ++i) {
          ++seen.at(static_cast<std::size_t>(run.offset + i));
        }
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen)) << tensor.name;
  }
}

TEST(E88Family, UnitIsABatchAndHead) {
  const Family& family = *find_family("e88_forward");
  const std::vector<ElementRun> runs = family.unit_elements(kRagged, "k", 1 * 3 + 2);  // b=1, h=2
  ASSERT_EQ(runs.size(), 17u);
  EXPECT_EQ(runs[4].offset, ((1 * 17 + 4) * 3 + 2) * 5);
  EXPECT_EQ(runs[4].count, 5);
  EXPECT_THROW(family.unit_elements(kRagged, "w", 0), std::out_of_range);
}

// A NaN in one unit's inputs shows where its values go.
TEST_P(BothE88Families, UnitsDoNotTouchEachOther) {
  TensorMap inputs = all_inputs(family_, kRagged);
  const TensorMap before = family_.reference(kRagged, inputs, {}, 1);
  for (auto& [tensor, values] : inputs) {
    for (const ElementRun& run : family_.unit_elements(kRagged, tensor, 4)) {
      std::fill_n(values.begin() + run.offset, run.count, std::nan(""));
    }
  }
  TensorMap after = family_.reference(kRagged, inputs, {}, 1);
  for (auto& [tensor, values] : after) {
    for (const ElementRun& run : family_.unit_elements(kRagged, tensor, 4)) {
      std::copy_n(before.at(tensor).begin() + run.offset, run.count, values.begin() + run.offset);
    }
  }
  EXPECT_EQ(after, before);
}

TEST_P(BothE88Families, ThreadsChangeNothing) {
  for (const std::string& regime : family_.regimes) {
    EXPECT_EQ(family_.fill(kRagged, 9, regime, 1), family_.fill(kRagged, 9, regime, 4)) << regime;
  }
  const TensorMap inputs = all_inputs(family_, kRagged, 1, 1);
  EXPECT_EQ(inputs, all_inputs(family_, kRagged, 1, 3));
  const TensorMap expected = family_.reference(kRagged, inputs, {}, 1);
  EXPECT_EQ(expected, family_.reference(kRagged, inputs, {}, 3));
  EXPECT_EQ(family_.honest(kRagged, inputs, {}, 0), family_.honest(kRagged, inputs, {}, 3));
  EXPECT_EQ(family_.noise(kRagged, inputs, expected, {}, -1), family_.noise(kRagged, inputs, expected, {}, 3));
}

TEST_P(BothE88Families, OnlyTheRequestedUnitsAreComputed) {
  const TensorMap inputs = all_inputs(family_, kRagged);
  const TensorMap all = family_.reference(kRagged, inputs, {}, 1);
  const TensorMap some = family_.reference(kRagged, inputs, {4, 1}, 2);
  for (const auto& [tensor, values] : some) {
    std::vector<double> wanted(values.size());
    for (const std::int64_t unit : {1, 4}) {
      for (const ElementRun& run : family_.unit_elements(kRagged, tensor, unit)) {
        std::copy_n(all.at(tensor).begin() + run.offset, run.count, wanted.begin() + run.offset);
      }
    }
    EXPECT_EQ(values, wanted) << tensor;
  }
}

TEST(E88Family, SeedsRegimesAndTensorsGiveDifferentInputs) {
  const Family& family = *find_family("e88_backward");
  EXPECT_NE(family.fill(kRagged, 1, "typical", 1), family.fill(kRagged, 2, "typical", 1));
  for (std::size_t i = 1; i < family.regimes.size(); ++i) {
    EXPECT_NE(family.fill(kRagged, 1, family.regimes[0], 1), family.fill(kRagged, 1, family.regimes[i], 1));
  }
  const TensorMap inputs = family.fill(kRagged, 1, "typical", 1);
  EXPECT_NE(inputs.at("k"), inputs.at("q"));
  EXPECT_THROW(family.fill(kRagged, 1, "adversarial", 1), std::invalid_argument);
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(E88Family, RegimesAreWhatTheySay) {
  const Family& family = *find_family("e88_forward");
  const Axes axes = e88_axes(1, 128, 2, 32, 32, 1, 0);
  const TensorMap typical = family.fill(axes, 1, "typical", 1);
  for (std::size_t row = 0; row < 128 * 2; ++row) {
    const auto first = typical.at("k").begin() + static_cast<std::ptrdiff_t>(row * 32);
    EXPECT_NEAR(root_mean_square({first, first + 32}) * std::sqrt(32.0), 1.0, 1e-12);
  }
  EXPECT_GT(root_mean_square(typical.at("s0")), 0.1);
  const std::vector<double> decay = family.fill(axes, 1, "long_memory", 1).at("decay");
  EXPECT_GT(*std::min_element(decay.begin(), decay.end()), 0.975);
  EXPECT_LT(root_mean_square(family.fill(axes, 1, "near_zero_gates", 1).at("g")), 2e-3);
  const std::vector<double> wide = family.fill(axes, 1, "wide_range", 1).at("v");
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), 3.0);
  std::vector<double> sizes(wide.size());
  std::transform(wide.begin(), wide.end(), sizes.begin(), [](double value) { return std::fabs(value); });
  std::nth_element(sizes.begin(), sizes.begin() + std::ssize(sizes) / 10, sizes.end());
  EXPECT_LT(sizes[sizes.size() / 10], 0.02);
  const TensorMap saturating = family.fill(axes, 1, "saturating", 1);
  const std::vector<double> states = family.reference(axes, saturating, {}, 1).at("s_final");
  const auto beyond = std::count_if(states.begin(), states.end(), [](double s) { return std::fabs(s) > 0.9; });
  EXPECT_GT(beyond, std::ssize(states) / 10);
}

TEST(E88Family, RawKeysAreNotNormalisedWhereTheKernelDoesIt) {
  const Axes axes = e88_axes(1, 64, 1, 32, 8, 1, 1);
  EXPECT_NEAR(root_mean_square(find_family("e88_forward")->fill(axes, 1, "typical", 1).at("k")), 1.0, 0.1);
}

TEST(E88Family, DerivedInputsAreWhatTheForwardWrites) {
  const Family& forward = *find_family("e88_forward");
  const TensorMap inputs = all_inputs(*find_family("e88_backward"), kRagged);
  TensorMap forward_inputs = inputs;
  const auto state = static_cast<std::ptrdiff_t>(2 * 3 * 5 * 4);
  const std::vector<double>& checkpoints = inputs.at("checkpoints");
  forward_inputs["s0"].assign(checkpoints.begin(), checkpoints.begin() + state);
  const TensorMap outputs = forward.honest(kRagged, forward_inputs, {}, 1);
  EXPECT_EQ(outputs.at("checkpoints"), checkpoints);
  EXPECT_EQ(outputs.at("y_cache"), inputs.at("y_cache"));
  EXPECT_GT(root_mean_square(forward_inputs["s0"]), 0.1);
  EXPECT_NE(all_inputs(*find_family("e88_backward"), kRagged, 2).at("checkpoints"), checkpoints);
}

TEST(E88Family, UngatedGradientOfTheGateIsZero) {
  const Family& family = *find_family("e88_backward");
  const Axes axes = with(kRagged, "GATE", 0);
  const TensorMap inputs = all_inputs(family, axes);
  for (const TensorMap& outputs : {family.reference(axes, inputs, {}, 1), family.honest(axes, inputs, {}, 1)}) {
    EXPECT_EQ(root_mean_square(outputs.at("dg")), 0);
    EXPECT_GT(root_mean_square(outputs.at("dq")), 0);
  }
}

TEST_P(BothE88Families, HonestOutputsAreBf16Values) {
  for (const auto& [tensor, values] : family_.honest(kRagged, all_inputs(family_, kRagged), {}, 1)) {
    for (const double value : values) {
      ASSERT_EQ(value, round_to_bf16(value)) << tensor;
    }
  }
}

TEST_P(BothE88Families, WorkloadsAreLegalAndNamedOnce) {
  EXPECT_EQ(family_.workloads.front().name, "b2_t64_h4_n32");
  std::set<std::string> names;
  std::set<std::string> classes;
  for (const Workload& workload : family_.workloads) {
    EXPECT_EQ(check_axes(family_, workload.axes), "") << workload.name;
    names.insert(workload.name);
    classes.insert(workload.workload_class);
    EXPECT_EQ(workload.target == Target::cuda, workload.kind == WorkloadKind::extreme) << workload.name;
  }
  EXPECT_EQ(names.size(), family_.workloads.size());
  EXPECT_EQ(classes, (std::set<std::string>{"n128", "n16", "n32", "n64"}));
}

TEST(E88Family, IllegalAxesAreNamed) {
  const Family& family = *find_family("e88_backward");
  Axes missing = kRagged;
  missing.erase("H");
  const std::pair<Axes, const char*> mistakes[] = {{with(kRagged, "N", 129), "N = 129 is outside 1..128"},
                                                   {with(kRagged, "T", 0), "T = 0"},
                                                   {with(kRagged, "B", -1), "B = -1"},
                                                   {with(kRagged, "GATE", 2), "GATE = 2"},
                                                   {with(kRagged, "K", 16), "no axis K"},
                                                   {missing, "H has no value"},
                                                   {with(kRagged, "N", 1), "NORM = 1 needs N >= 2"}};
  for (const auto& [axes, mistake] : mistakes) {
    EXPECT_NE(check_axes(family, axes).find(mistake), std::string::npos) << mistake;
  }
  EXPECT_EQ(check_axes(family, kRagged), "");
  EXPECT_EQ(check_axes(family, with(with(kRagged, "N", 1), "NORM", 0)), "");
  EXPECT_EQ(check_axes(*find_family("e88_forward"), with(kRagged, "N", 1)), "");
}

}  // namespace
}  // namespace apo
