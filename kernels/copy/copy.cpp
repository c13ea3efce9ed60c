// kernels/copy/copy.cpp - the family `copy`: y[i] = x[i] over n floats.
//
// Tolerance: a copy rounds nothing, so every element must be equal and the noise and all factors are zero.
#include "kernels/copy/copy.h"

#include <algorithm>

#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::int64_t kUnit = 4096;  // elements checked together

std::vector<std::int64_t> shape(const Axes& axes) {
  return {axes.at("n")};
}

TensorMap fill(const Axes& axes, std::uint64_t seed, std::string_view regime, int) {
  const double scale = regime == "wide" ? 1e30 : 1.0;
  Random random(derive_seed(seed, "x"));
  std::vector<double> x(static_cast<std::size_t>(axes.at("n")));
  std::generate(x.begin(), x.end(), [&] { return scale * random.normal(); });
  return {{"x", std::move(x)}};
}

TensorMap reference(const Axes&, const TensorMap& inputs, const std::vector<std::int64_t>&, int) {
  return {{"y", inputs.at("x")}};
}

Workload workload(const char* name, std::int64_t n, WorkloadKind kind) {
  return {.name = name, .axes = {{"n", n}}, .kind = kind, .workload_class = "any"};
}

}  // namespace

Family copy_family() {
  Family family;
  family.name = "copy";
  family.summary = "y[i] = x[i]: the memory roof, and the shortest contract to read";
  family.axes = {{.name = "n", .meaning = "elements", .min = 1, .max = std::int64_t{1} << 33}};
  family.tensors = {
      {.name = "x", .dtype = DType::f32, .role = Role::input, .shape_text = "[n]", .shape = shape, .meaning = "source"},
      {.name = "y", .dtype = DType::f32, .role = Role::output, .shape_text = "[n]", .shape = shape, .meaning = "copy"}};
  family.regimes = {"typical", "wide"};
  family.workloads = {workload("n1m", 1 << 20, WorkloadKind::production), workload("n4k", 4096, WorkloadKind::small),
                      workload("n1001", 1001, WorkloadKind::ragged), workload("n64m", 64 << 20, WorkloadKind::extreme)};
  family.invalid = [](const Axes&) { return std::string(); };
  family.legal = "1";
  family.classes = {{.name = "any", .condition = "1"}};
  family.unit_count = [](const Axes& axes) { return (axes.at("n") + kUnit - 1) / kUnit; };
  family.unit_elements = [](const Axes& axes, std::string_view, std::int64_t unit) {
    const std::int64_t offset = unit * kUnit;
    return std::vector<ElementRun>{{.offset = offset, .count = std::min(kUnit, axes.at("n") - offset)}};
  };
  family.fill = fill;
  family.derive = [](const Axes&, const TensorMap&, int) { return TensorMap(); };
  family.reference = reference;
  family.honest = reference;
  family.noise = [](const Axes& axes, const TensorMap&, const TensorMap&, const std::vector<std::int64_t>&, int) {
    return TensorMap{{"y", std::vector<double>(static_cast<std::size_t>(axes.at("n")))}};
  };
  family.tolerance = [](std::string_view, const Axes&) { return Tolerance{}; };
  family.repeatable = true;
  family.work = [](const Axes& axes) {
    return Work{.flops = 0, .bytes = 8.0 * static_cast<double>(axes.at("n")), .special_functions = 0};
  };
  return family;
}

}  // namespace apo
