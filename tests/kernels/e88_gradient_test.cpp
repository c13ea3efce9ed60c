// tests/kernels/e88_gradient_test.cpp - the backward's reference is the derivative of the forward's reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/family.h"
#include "tests/kernels/e88_alternatives.h"

namespace apo {
namespace {

struct Pair {
  std::string_view input;
  std::string_view output;
};

constexpr Pair kGradients[] = {{"k", "dk"}, {"q", "dq"}, {"v", "dv"}, {"g", "dg"}, {"decay", "ddecay"}, {"s0", "ds0"}};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

struct Problem {
  Axes axes;
  TensorMap inputs;   // of the forward
  TensorMap weights;  // d_output, d_s_final

  double loss() const {
    const TensorMap outputs = find_family("e88_forward")->reference(axes, inputs, {}, 1);
    return dot(outputs.at("output"), weights.at("d_output")) + dot(outputs.at("s_final"), weights.at("d_s_final"));
  }

  TensorMap gradient() const {
    const Family& family = *find_family("e88_backward");
    TensorMap all = inputs;
    all.insert(weights.begin(), weights.end());
    const TensorMap forward = find_family("e88_forward")->reference(axes, inputs, {}, 1);
    all["checkpoints"] = forward.at("checkpoints");
    all["y_cache"] = forward.at("y_cache");
    return family.reference(axes, all, {}, 1);
  }
};

Problem draw(const Axes& axes, std::string_view regime) {
  Problem problem{.axes = axes, .inputs = find_family("e88_forward")->fill(axes, 7, regime, 1), .weights = {}};
  TensorMap backward = find_family("e88_backward")->fill(axes, 7, regime, 1);
  problem.weights["d_output"] = backward.at("d_output");
  problem.weights["d_s_final"] = backward.at("d_s_final");
  return problem;
}

// Richardson's extrapolation of two central differences: the error left is of order step^4.
double difference_quotient(Problem& problem, double& value) {
  const double centre = value;
  const double step = 1e-4 * std::max(std::fabs(centre), 1e-2);
  const auto central = [&](double h) {
    value = centre + h;
    const double above = problem.loss();
    value = centre - h;
    const double below = problem.loss();
    value = centre;
    return (above - below) / (2 * h);
  };
  return (4 * central(step) - central(2 * step)) / 3;
}

double worst_relative_error(Problem problem) {
  const TensorMap gradient = problem.gradient();
  double worst = 0;
  for (const auto& [input, output] : kGradients) {
    const std::vector<double>& exact = gradient.find(output)->second;
    std::vector<double>& values = problem.inputs.find(input)->second;
    const double norm = std::sqrt(dot(exact, exact));
    double error = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double difference = difference_quotient(problem, values[i]) - exact[i];
      error += difference * difference;
    }
    worst = std::max(worst, norm > 0 ? std::sqrt(error) / norm : std::sqrt(error));
  }
  return worst;
}

TEST(E88Gradient, EqualsFiniteDifferencesForEveryGateAndNorm) {
  for (const int gate : {0, 1}) {
    for (const int norm : {0, 1}) {
      EXPECT_LT(worst_relative_error(draw(e88_axes(1, 18, 2, 3, 5, gate, norm), "typical")), 1e-6)
          << "GATE=" << gate << " NORM=" << norm;
    }
  }
}

TEST(E88Gradient, EqualsFiniteDifferencesInEveryRegimeWithoutRowsOfZeros) {
  for (const std::string& regime : find_family("e88_backward")->regimes) {
    if (regime == "extreme") {
      continue;  // has such rows, where the norm bends within 1e-6: the next test goes there with smaller steps
    }
    EXPECT_LT(worst_relative_error(draw(e88_axes(2, 17, 1, 4, 2, 1, 1), regime)), 1e-6) << regime;
  }
}

TEST(E88Gradient, EqualsFiniteDifferencesWhereTheNormIsNearItsEpsilon) {
  Problem problem = draw(e88_axes(1, 4, 1, 4, 3, 1, 1), "typical");
  for (const std::string_view name : {"k", "q"}) {
    for (double& value : problem.inputs.find(name)->second) {
      value *= 1e-6;  // sum x^2 is then about the epsilon
    }
  }
  const TensorMap gradient = problem.gradient();
  for (const auto& [input, output] : {Pair{"k", "dk"}, Pair{"q", "dq"}}) {
    std::vector<double>& values = problem.inputs.find(input)->second;
    const std::vector<double>& exact = gradient.find(output)->second;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double centre = values[i];
      const double step = 1e-10;
      values[i] = centre + step;
      const double above = problem.loss();
      values[i] = centre - step;
      const double below = problem.loss();
      values[i] = centre;
      EXPECT_NEAR((above - below) / (2 * step), exact[i], 1e-4 * std::sqrt(dot(exact, exact)))
          << output << "[" << i << "]";
    }
  }
}

TEST(E88Gradient, ReferenceIgnoresTheRoundedCheckpointsAfterSlotZero) {
  const Problem problem = draw(e88_axes(1, 40, 1, 4, 4, 1, 1), "typical");
  TensorMap inputs = problem.inputs;
  inputs.insert(problem.weights.begin(), problem.weights.end());
  const TensorMap forward = find_family("e88_forward")->reference(problem.axes, inputs, {}, 1);
  inputs["checkpoints"] = forward.at("checkpoints");
  std::fill(inputs["checkpoints"].begin() + 16, inputs["checkpoints"].end(), std::nan(""));
  inputs["y_cache"].assign(forward.at("y_cache").size(), std::nan(""));
  const TensorMap expected = problem.gradient();
  const TensorMap actual = find_family("e88_backward")->reference(problem.axes, inputs, {}, 1);
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace apo
