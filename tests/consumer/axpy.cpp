// tests/consumer/axpy.cpp - a kernel family from outside the project: z[i] = 2.5 x[i] + y[i] over n floats.
//
// Tolerance: an implementation rounds the product to float or, with a fused multiply-add, does not. The product's error
// is uniform within kUnitRoundoff * |2.5 x|, so its RMS is that over sqrt(3), and its largest value sqrt(3) times its
// RMS.
#include <algorithm>
#include <cmath>

#include "kernels/family.h"
#include "kernels/random.h"

namespace {

using apo::Axes;
using apo::Family;
using apo::TensorMap;
using Units = std::vector<std::int64_t>;

constexpr std::int64_t kUnit = 1024;  // elements checked together
constexpr double kUnitRoundoff = 0x1p-24;
constexpr float kFactor = 2.5;

TensorMap fill(const Axes& axes, std::uint64_t seed, std::string_view regime, int) {
  const double scale = regime == "wide" ? 1e15 : 1.0;
  const std::vector<double> zeros(static_cast<std::size_t>(axes.at("n")));
  TensorMap inputs = {{"x", zeros}, {"y", zeros}};
  for (auto& [name, values] : inputs) {
    apo::Random random(apo::derive_seed(seed, name));
    std::generate(values.begin(), values.end(), [&] { return scale * random.normal(); });
  }
  return inputs;
}

// z[i] = combine(x[i], y[i]).
template <typename Combine>
TensorMap each(const TensorMap& inputs, Combine combine) {
  const std::vector<double>& x = inputs.at("x");
  std::vector<double> z(x.size());
  std::transform(x.begin(), x.end(), inputs.at("y").begin(), z.begin(), combine);
  return {{"z", std::move(z)}};
}

TensorMap reference(const Axes&, const TensorMap& inputs, const Units&, int) {
  return each(inputs, [](double x, double y) { return kFactor * x + y; });
}

TensorMap honest(const Axes&, const TensorMap& inputs, const Units&, int) {
  return each(inputs, [](double x, double y) {
    const float product = kFactor * static_cast<float>(x);
    return static_cast<double>(product + static_cast<float>(y));
  });
}

TensorMap noise(const Axes&, const TensorMap& inputs, const TensorMap&, const Units&, int) {
  return each(inputs, [](double x, double) { return std::fabs(kFactor * x) * kUnitRoundoff / std::sqrt(3.0); });
}

std::vector<apo::ElementRun> unit_elements(const Axes& axes, std::string_view, std::int64_t unit) {
  const std::int64_t offset = unit * kUnit;
  return {{.offset = offset, .count = std::min(kUnit, axes.at("n") - offset)}};
}

apo::Work work(const Axes& axes) {
  const auto n = static_cast<double>(axes.at("n"));
  return {.flops = 2 * n, .bytes = 12 * n, .special_functions = 0};
}

apo::TensorSpec tensor(const char* name, apo::Role role, const char* meaning) {
  return {.name = name,
          .dtype = apo::DType::f32,
          .role = role,
          .shape_text = "[n]",
          .shape = [](const Axes& axes) { return std::vector<std::int64_t>{axes.at("n")}; },
          .meaning = meaning};
}

apo::Workload workload(const char* name, std::int64_t n, apo::WorkloadKind kind) {
  return {.name = name, .axes = {{"n", n}}, .kind = kind, .workload_class = "any"};
}

Family axpy() {
  Family family;
  family.name = "axpy";
  family.summary = "z[i] = 2.5 x[i] + y[i]";
  family.axes = {{.name = "n", .meaning = "elements", .min = 1, .max = std::int64_t{1} << 31}};
  family.tensors = {tensor("x", apo::Role::input, "scaled vector"), tensor("y", apo::Role::input, "added vector"),
                    tensor("z", apo::Role::output, "sum")};
  family.regimes = {"typical", "wide"};
  family.workloads = {workload("n64k", 1 << 16, apo::WorkloadKind::production),
                      workload("n1000", 1000, apo::WorkloadKind::small),
                      workload("n1025", 1025, apo::WorkloadKind::ragged)};
  family.unit_count = [](const Axes& axes) { return (axes.at("n") + kUnit - 1) / kUnit; };
  family.unit_elements = unit_elements;
  family.fill = fill;
  family.derive = [](const Axes&, const TensorMap&, int) { return TensorMap(); };
  family.reference = reference;
  family.honest = honest;
  family.noise = noise;
  family.tolerance = [](std::string_view, const Axes&) {
    return apo::Tolerance{.output_rounding = kUnitRoundoff, .element_sigmas = 4, .rms_factor = 2};
  };
  family.work = work;
  return family;
}

}  // namespace

extern "C" void apo_families(std::vector<Family>* families) {
  families->push_back(axpy());
}
