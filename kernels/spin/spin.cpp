// kernels/spin/spin.cpp - the family `spin`: y[i] = the state of a generator after `steps` steps from x[i].
//
// A step of xorshift32 (Marsaglia 2003) is six operations that each wait for the one before, so that a call takes the
// same time for each step, whatever the compiler or the caches do. The step is linear over bits: the reference applies
// the matrix of all steps at once, which it gets by squaring, so that a long chain costs nothing to check. The upper 24
// bits of the state are exact in f32: every element has to be equal.
#include "kernels/spin/spin.h"

#include <algorithm>
#include <array>

#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::int64_t kUnit = 256;  // elements checked together

// Column b is what the map makes of a state whose only set bit is b.
using BitMatrix = std::array<std::uint32_t, 32>;

std::uint32_t step(std::uint32_t state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

std::uint32_t apply(const BitMatrix& map, std::uint32_t state) {
  std::uint32_t result = 0;
  for (std::size_t bit = 0; bit < map.size(); ++bit) {
    result ^= ((state >> bit) & 1) != 0 ? map.at(bit) : 0;
  }
  return result;
}

BitMatrix after(const BitMatrix& first, const BitMatrix& second) {
  BitMatrix both{};
  std::transform(first.begin(), first.end(), both.begin(),
                 [&second](std::uint32_t column) { return apply(second, column); });
  return both;
}

BitMatrix matrix_of(std::int64_t steps) {
  BitMatrix power{};
  BitMatrix result{};
  for (std::size_t bit = 0; bit < power.size(); ++bit) {
    result.at(bit) = std::uint32_t{1} << bit;
    power.at(bit) = step(result.at(bit));
  }
  for (; steps > 0; steps /= 2) {
    result = steps % 2 == 1 ? after(result, power) : result;
    power = after(power, power);
  }
  return result;
}

std::vector<std::int64_t> shape(const Axes& axes) {
  return {axes.at("n")};
}

TensorMap fill(const Axes& axes, std::uint64_t seed, std::string_view, int) {
  Random random(derive_seed(seed, "x"));
  std::vector<double> x(static_cast<std::size_t>(axes.at("n")));
  std::generate(x.begin(), x.end(), [&] { return static_cast<double>(1 + random.below((1u << 24) - 1)); });
  return {{"x", std::move(x)}};
}

TensorMap reference(const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>&, int) {
  const BitMatrix map = matrix_of(axes.at("steps"));
  const std::vector<double>& x = inputs.at("x");
  std::vector<double> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), [&map](double start) {
    return static_cast<double>(apply(map, static_cast<std::uint32_t>(start)) >> 8);
  });
  return {{"y", std::move(y)}};
}

Workload workload(const char* name, std::int64_t n, std::int64_t steps, WorkloadKind kind, Target target) {
  return {.name = name,
          .axes = {{"n", n}, {"steps", steps}},
          .kind = kind,
          .workload_class = n == 1 ? "one" : "many",
          .target = target};
}

}  // namespace

Family spin_family() {
  Family family;
  family.name = "spin";
  family.summary = "work of an exactly known length, to try the judge itself on ('apo selftest')";
  family.axes = {{.name = "n", .meaning = "chains", .min = 1, .max = std::int64_t{1} << 31},
                 {.name = "steps", .meaning = "steps of each chain", .min = 1, .max = std::int64_t{1} << 40}};
  family.tensors = {
      {.name = "x", .dtype = DType::f32, .role = Role::input, .shape_text = "[n]", .shape = shape, .meaning = "start"},
      {.name = "y", .dtype = DType::f32, .role = Role::output, .shape_text = "[n]", .shape = shape, .meaning = "end"}};
  family.regimes = {"typical"};
  // About 10 us, 100 us, 1 ms and 10 ms: a step takes 2 ns on a CPU of 3 GHz, 13 ns on a GPU of 2 GHz.
  family.workloads = {workload("s5k", 1, 5'000, WorkloadKind::production, Target::host),
                      workload("s50k", 1, 50'000, WorkloadKind::production, Target::host),
                      workload("s500k", 1, 500'000, WorkloadKind::production, Target::host),
                      workload("s5m", 1, 5'000'000, WorkloadKind::extreme, Target::host),
                      workload("n16k_s1k", 16'384, 1'000, WorkloadKind::production, Target::cuda),
                      workload("n16k_s8k", 16'384, 8'000, WorkloadKind::production, Target::cuda),
                      workload("n16k_s80k", 16'384, 80'000, WorkloadKind::production, Target::cuda),
                      workload("n16k_s800k", 16'384, 800'000, WorkloadKind::extreme, Target::cuda),
                      workload("n256_s16", 256, 16, WorkloadKind::small, Target::host),
                      workload("n301_s7", 301, 7, WorkloadKind::ragged, Target::host)};
  family.invalid = [](const Axes&) { return std::string(); };
  family.legal = "1";
  family.classes = {{.name = "one", .condition = "n == 1"}, {.name = "many", .condition = "n > 1"}};
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
  family.work = [](const Axes& axes) {
    return Work{.flops = 0, .bytes = 8.0 * static_cast<double>(axes.at("n")), .special_functions = 0};
  };
  return family;
}

}  // namespace apo
