// tests/zoo/profile/families.cpp - the small contracts that the kernels of this folder fulfil; `apo --families` loads
// them.
//
// Tolerance: each family's noise is a bound on the rounding of any order of its operations in single precision, with
// room for the approximate special functions; a wrong element is far outside.
#include <algorithm>
#include <cmath>

#include "kernels/family.h"

namespace {

using apo::Axes;
using apo::Family;
using apo::TensorMap;
using apo::Work;
using apo::WorkloadKind;
using Units = std::vector<std::int64_t>;
using Values = std::vector<double>;

constexpr double kUnitRoundoff = 0x1p-24;
constexpr int kPolynomial = 256;  // multiply-adds an element, as in the kernels
constexpr int kTanhs = 64;        // an element

std::size_t product(const std::vector<std::int64_t>& extents) {
  std::size_t count = 1;
  for (const std::int64_t extent : extents) {
    count *= static_cast<std::size_t>(extent);
  }
  return count;
}

// Uniform in [-1, 1), far cheaper than normal numbers: the inputs are large.
double uniform(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = seed + index * 0x9e3779b97f4a7c15U;  // splitmix64
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

using Extents = std::vector<std::int64_t>;

Extents of_n(const Axes& axes) {
  return {axes.at("n")};
}

// Of n elements where it does not say otherwise.
struct Contract {
  std::string name;
  std::string summary;
  std::function<Values(const Axes&, const TensorMap&)> reference;
  std::function<Work(const Axes&)> work;
  double noise = 0;                         // RMS error of an honest output of magnitude 1
  std::vector<std::string> inputs = {"x"};  // each of the shape of `shape`
  std::string axis = "n";
  std::function<Extents(const Axes&)> shape = of_n;
  std::function<Extents(const Axes&)> output_shape = shape;
  std::vector<std::int64_t> sizes = {1 << 24, 1 << 20, 4096};  // the last one is small
  std::vector<std::string> workloads = {"n16m", "n1m", "n4k"};
};

Family family_of(const Contract& contract) {
  Family family;
  family.name = contract.name;
  family.summary = contract.summary;
  family.axes.push_back({.name = contract.axis, .meaning = "extent", .min = 1, .max = std::int64_t{1} << 31});
  for (const std::string& input : contract.inputs) {
    family.tensors.push_back({.name = input, .dtype = apo::DType::f32, .shape = contract.shape});
  }
  family.tensors.push_back(
      {.name = "y", .dtype = apo::DType::f32, .role = apo::Role::output, .shape = contract.output_shape});
  family.regimes = {"typical"};
  for (std::size_t i = 0; i < contract.sizes.size(); ++i) {
    const bool small = i + 1 == contract.sizes.size();
    family.workloads.push_back({.name = contract.workloads[i],
                                .axes = {{contract.axis, contract.sizes[i]}},
                                .kind = small ? WorkloadKind::small : WorkloadKind::production,
                                .workload_class = "any",
                                .target = apo::Target::cuda});
  }
  family.unit_count = [](const Axes&) { return std::int64_t{1}; };
  family.unit_elements = [contract](const Axes& axes, std::string_view tensor, std::int64_t) {
    const auto extents = tensor == "y" ? contract.output_shape(axes) : contract.shape(axes);
    return std::vector<apo::ElementRun>{{.offset = 0, .count = static_cast<std::int64_t>(product(extents))}};
  };
  family.fill = [contract](const Axes& axes, std::uint64_t seed, std::string_view, int) {
    TensorMap inputs;
    for (const std::string& input : contract.inputs) {
      Values values(product(contract.shape(axes)));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = uniform(seed + inputs.size(), i);
      }
      inputs[input] = std::move(values);
    }
    return inputs;
  };
  family.derive = [](const Axes&, const TensorMap&, int) { return TensorMap(); };
  family.reference = [contract](const Axes& axes, const TensorMap& inputs, const Units&, int) {
    return TensorMap{{"y", contract.reference(axes, inputs)}};
  };
  family.honest = [contract](const Axes& axes, const TensorMap& inputs, const Units&, int) {
    Values values = contract.reference(axes, inputs);
    std::transform(values.begin(), values.end(), values.begin(), [](double one) { return static_cast<float>(one); });
    return TensorMap{{"y", std::move(values)}};
  };
  family.noise = [contract](const Axes&, const TensorMap&, const TensorMap& expected, const Units&, int) {
    Values noise(expected.at("y").size());
    std::transform(expected.at("y").begin(), expected.at("y").end(), noise.begin(),
                   [&](double one) { return contract.noise * std::max(1.0, std::fabs(one)); });
    return TensorMap{{"y", std::move(noise)}};
  };
  family.tolerance = [contract](std::string_view, const Axes&) {
    return contract.noise > 0 ? apo::Tolerance{.output_rounding = kUnitRoundoff, .element_sigmas = 6, .rms_factor = 2}
                              : apo::Tolerance{};
  };
  family.work = contract.work;
  return family;
}

Extents of_rows(const Axes& axes) {
  return {axes.at("rows"), 1024};
}
Extents of_square(const Axes& axes) {
  return {axes.at("n"), axes.at("n")};
}

// y[i] = f(x, i) for all elements of x.
template <typename Function>
auto each(Function function) {
  return [function](const Axes& axes, const TensorMap& inputs) {
    const Values& x = inputs.at("x");
    Values y(x.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = function(axes, inputs, x, i);
    }
    return y;
  };
}

// Bytes a, flops b and special functions c for each of `elements`.
std::function<Work(const Axes&)> work_of(
    double bytes, double flops = 0, double special = 0,
    double (*elements)(const Axes&) = [](const Axes& axes) { return static_cast<double>(axes.at("n")); }) {
  return [=](const Axes& axes) {
    const double n = elements(axes);
    return Work{.flops = flops * n, .bytes = bytes * n, .special_functions = special * n};
  };
}

double elements_of_rows(const Axes& axes) {
  return 1024 * static_cast<double>(axes.at("rows"));
}
double elements_of_square(const Axes& axes) {
  return static_cast<double>(axes.at("n")) * static_cast<double>(axes.at("n"));
}

double stencil(const Axes&, const TensorMap&, const Values& x, std::size_t i) {
  return 0.25 * x[i == 0 ? 0 : i - 1] + 0.5 * x[i] + 0.25 * x[std::min(i + 1, x.size() - 1)];
}

double polynomial(const Axes&, const TensorMap&, const Values& x, std::size_t i) {
  double value = x[i];
  for (int k = 0; k < kPolynomial; ++k) {
    value = 0.5 * x[i] * value + 0.5;
  }
  return value;
}

double mean_of_tanhs(const Axes&, const TensorMap&, const Values& x, std::size_t i) {
  double sum = 0;
  for (int k = 0; k < kTanhs; ++k) {
    sum += std::tanh(x[i] + k / 64.0);
  }
  return sum / kTanhs;
}

double product_of_matrices(const Axes& axes, const TensorMap& inputs, const Values& x, std::size_t i) {
  const auto n = static_cast<std::size_t>(axes.at("n"));
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += x[i / n * n + k] * inputs.at("z")[k * n + i % n];
  }
  return sum;
}

Values row_sums(const Axes& axes, const TensorMap& inputs) {
  Values y(static_cast<std::size_t>(axes.at("rows")));
  for (std::size_t i = 0; i < inputs.at("x").size(); ++i) {
    y[i / 1024] += inputs.at("x")[i];
  }
  return y;
}

Values softmax(const Axes& axes, const TensorMap& inputs) {
  Values y = inputs.at("x");
  for (std::int64_t row = 0; row < axes.at("rows"); ++row) {
    double* const begin = y.data() + 1024 * row;
    double sum = 0;
    std::transform(begin, begin + 1024, begin, [](double one) { return std::exp(one); });
    std::for_each(begin, begin + 1024, [&](double one) { sum += one; });
    std::transform(begin, begin + 1024, begin, [&](double one) { return one / sum; });
  }
  return y;
}

Contract of_long_rows(Contract contract) {
  contract.axis = "rows";
  contract.noise = 64 * kUnitRoundoff;
  contract.shape = of_rows;
  contract.sizes = {32768, 64};
  contract.workloads = {"r32k", "r64"};
  return contract;
}

std::vector<Contract> contracts() {
  const auto copied = [](const Axes&, const TensorMap&, const Values& x, std::size_t i) { return x[i]; };
  const auto axpy = [](const Axes&, const TensorMap& inputs, const Values& x, std::size_t i) {
    return 2.5 * x[i] + inputs.at("z")[i];
  };
  const auto transposed = [](const Axes& axes, const TensorMap&, const Values& x, std::size_t i) {
    const auto n = static_cast<std::size_t>(axes.at("n"));
    return x[i % n * n + i / n];
  };
  const auto work_of_matmul = [](const Axes& axes) {
    const auto n = static_cast<double>(axes.at("n"));
    return Work{.flops = 2 * n * n * n, .bytes = 12 * n * n, .special_functions = 0};
  };
  return {
      {.name = "zoo_copy", .summary = "y = x", .reference = each(copied), .work = work_of(8)},
      {.name = "zoo_axpy",
       .summary = "y = 2.5 x + z",
       .reference = each(axpy),
       .work = work_of(12, 2),
       .noise = 4 * kUnitRoundoff,
       .inputs = {"x", "z"}},
      {.name = "zoo_stencil",
       .summary = "y[i] = x[i-1] / 4 + x[i] / 2 + x[i+1] / 4, ends repeated",
       .reference = each(stencil),
       .work = work_of(8, 4),
       .noise = 4 * kUnitRoundoff},
      {.name = "zoo_polynomial",
       .summary = "y = 1 / 2 + x / 2 (1 / 2 + x / 2 (...)), 256 deep, from x",
       .reference = each(polynomial),
       .work = work_of(8, 2 * kPolynomial),
       .noise = 8 * kUnitRoundoff},
      {.name = "zoo_tanh",
       .summary = "y = the mean of tanh(x + k / 64) over k below 64",
       .reference = each(mean_of_tanhs),
       .work = work_of(8, 2 * kTanhs, kTanhs),
       .noise = 0x1p-11},  // tanh.approx.f32
      of_long_rows({.name = "zoo_row_sum",
                    .summary = "y[row] = the sum of x[row, 1024]",
                    .reference = row_sums,
                    .work = work_of(4 + 4.0 / 1024, 1, 0, elements_of_rows),
                    .output_shape = [](const Axes& axes) { return Extents{axes.at("rows")}; }}),
      of_long_rows({.name = "zoo_softmax",
                    .summary = "y[row, i] = exp(x[row, i]) / sum over the row",
                    .reference = softmax,
                    .work = work_of(8, 3, 1, elements_of_rows),
                    .output_shape = of_rows}),
      {.name = "zoo_transpose",
       .summary = "y[column, row] = x[row, column]",
       .reference = each(transposed),
       .work = work_of(8, 0, 0, elements_of_square),
       .shape = of_square,
       .sizes = {4096, 64},
       .workloads = {"n4096", "n64"}},
      {.name = "zoo_matmul",
       .summary = "y = x z, square matrices",
       .reference = each(product_of_matrices),
       .work = work_of_matmul,
       .noise = 256 * kUnitRoundoff,
       .inputs = {"x", "z"},
       .shape = of_square,
       .sizes = {2048, 128},
       .workloads = {"n2048", "n128"}},
  };
}

}  // namespace

extern "C" void apo_families(std::vector<Family>* families) {
  for (const Contract& contract : contracts()) {
    families->push_back(family_of(contract));
  }
}
