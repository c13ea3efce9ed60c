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
using apo::Workload;
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

struct Contract {
  std::string name;
  std::string summary;
  std::vector<std::string> axes;
  std::vector<std::string> inputs;  // each of the shape of `shape`
  std::function<std::vector<std::int64_t>(const Axes&)> shape;
  std::function<std::vector<std::int64_t>(const Axes&)> output_shape;
  std::function<Values(const Axes&, const TensorMap&)> reference;
  double noise = 0;  // RMS error of an honest output of magnitude 1
  std::function<Work(const Axes&)> work;
  std::vector<std::pair<std::string, Axes>> workloads;  // the last one is small
};

Workload workload(const std::string& name, const Axes& axes, bool small) {
  return {.name = name,
          .axes = axes,
          .kind = small ? WorkloadKind::small : WorkloadKind::production,
          .workload_class = "any",
          .target = apo::Target::cuda};
}

Family family_of(const Contract& contract) {
  Family family;
  family.name = contract.name;
  family.summary = contract.summary;
  for (const std::string& axis : contract.axes) {
    family.axes.push_back({.name = axis, .meaning = "extent", .min = 1, .max = std::int64_t{1} << 31});
  }
  for (const std::string& input : contract.inputs) {
    family.tensors.push_back({.name = input, .dtype = apo::DType::f32, .shape = contract.shape});
  }
  family.tensors.push_back(
      {.name = "y", .dtype = apo::DType::f32, .role = apo::Role::output, .shape = contract.output_shape});
  family.regimes = {"typical"};
  for (const auto& [name, axes] : contract.workloads) {
    family.workloads.push_back(workload(name, axes, &name == &contract.workloads.back().first));
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

std::vector<std::int64_t> of_n(const Axes& axes) {
  return {axes.at("n")};
}
std::vector<std::int64_t> of_rows(const Axes& axes) {
  return {axes.at("rows"), 1024};
}
std::vector<std::int64_t> of_square(const Axes& axes) {
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

// Bytes a, flops b and special functions c for each element.
std::function<Work(const Axes&)> work_of(double bytes, double flops = 0, double special = 0) {
  return [=](const Axes& axes) {
    const auto n = static_cast<double>(axes.at("n"));
    return Work{.flops = flops * n, .bytes = bytes * n, .special_functions = special * n};
  };
}

std::function<Work(const Axes&)> work_of_rows(double bytes, double flops, double special) {
  return [=](const Axes& axes) {
    const double n = 1024 * static_cast<double>(axes.at("rows"));
    return Work{.flops = flops * n, .bytes = bytes * n, .special_functions = special * n};
  };
}

const std::vector<std::pair<std::string, Axes>> kLong = {
    {"n16m", {{"n", 1 << 24}}}, {"n1m", {{"n", 1 << 20}}}, {"n4k", {{"n", 4096}}}};
const std::vector<std::pair<std::string, Axes>> kRows = {{"r32k", {{"rows", 32768}}}, {"r64", {{"rows", 64}}}};

Contract elementwise(const std::string& name, const std::string& summary) {
  Contract contract;
  contract.name = name;
  contract.summary = summary;
  contract.axes = {"n"};
  contract.inputs = {"x"};
  contract.shape = of_n;
  contract.output_shape = of_n;
  contract.workloads = kLong;
  contract.work = work_of(8);
  return contract;
}

Contract copy() {
  Contract contract = elementwise("zoo_copy", "y = x");
  contract.reference = [](const Axes&, const TensorMap& inputs) { return inputs.at("x"); };
  return contract;
}

Contract axpy() {
  Contract contract = elementwise("zoo_axpy", "y = 2.5 x + z");
  contract.inputs = {"x", "z"};
  contract.reference = each([](const Axes&, const TensorMap& inputs, const Values& x, std::size_t i) {
    return 2.5 * x[i] + inputs.at("z")[i];
  });
  contract.noise = 4 * kUnitRoundoff;
  contract.work = work_of(12, 2);
  return contract;
}

Contract stencil() {
  Contract contract = elementwise("zoo_stencil", "y[i] = x[i-1] / 4 + x[i] / 2 + x[i+1] / 4, ends repeated");
  contract.reference = each([](const Axes&, const TensorMap&, const Values& x, std::size_t i) {
    const double left = x[i == 0 ? 0 : i - 1];
    const double right = x[std::min(i + 1, x.size() - 1)];
    return 0.25 * left + 0.5 * x[i] + 0.25 * right;
  });
  contract.noise = 4 * kUnitRoundoff;
  contract.work = work_of(8, 4);
  return contract;
}

Contract polynomial() {
  Contract contract = elementwise("zoo_polynomial", "y = 1 / 2 + x / 2 (1 / 2 + x / 2 (...)), 256 deep, from x");
  contract.reference = each([](const Axes&, const TensorMap&, const Values& x, std::size_t i) {
    double value = x[i];
    for (int k = 0; k < kPolynomial; ++k) {
      value = 0.5 * x[i] * value + 0.5;
    }
    return value;
  });
  contract.noise = 8 * kUnitRoundoff;
  contract.work = work_of(8, 2 * kPolynomial);
  return contract;
}

Contract tanhs() {
  Contract contract = elementwise("zoo_tanh", "y = the mean of tanh(x + k / 64) over k below 64");
  contract.reference = each([](const Axes&, const TensorMap&, const Values& x, std::size_t i) {
    double sum = 0;
    for (int k = 0; k < kTanhs; ++k) {
      sum += std::tanh(x[i] + k / 64.0);
    }
    return sum / kTanhs;
  });
  contract.noise = 0x1p-11;  // tanh.approx.f32
  contract.work = work_of(8, 2 * kTanhs, kTanhs);
  return contract;
}

Contract rows(const std::string& name, const std::string& summary) {
  Contract contract = elementwise(name, summary);
  contract.axes = {"rows"};
  contract.shape = of_rows;
  contract.output_shape = of_rows;
  contract.workloads = kRows;
  contract.noise = 64 * kUnitRoundoff;
  return contract;
}

Contract row_sum() {
  Contract contract = rows("zoo_row_sum", "y[row] = the sum of x[row, 1024]");
  contract.output_shape = [](const Axes& axes) { return std::vector<std::int64_t>{axes.at("rows")}; };
  contract.reference = [](const Axes& axes, const TensorMap& inputs) {
    Values y(static_cast<std::size_t>(axes.at("rows")));
    for (std::size_t i = 0; i < inputs.at("x").size(); ++i) {
      y[i / 1024] += inputs.at("x")[i];
    }
    return y;
  };
  contract.work = work_of_rows(4 + 4.0 / 1024, 1, 0);
  return contract;
}

Contract softmax() {
  Contract contract = rows("zoo_softmax", "y[row, i] = exp(x[row, i]) / sum over the row");
  contract.reference = [](const Axes& axes, const TensorMap& inputs) {
    Values y = inputs.at("x");
    for (std::int64_t row = 0; row < axes.at("rows"); ++row) {
      double* const begin = y.data() + 1024 * row;
      double sum = 0;
      std::transform(begin, begin + 1024, begin, [](double one) { return std::exp(one); });
      std::for_each(begin, begin + 1024, [&](double one) { sum += one; });
      std::transform(begin, begin + 1024, begin, [&](double one) { return one / sum; });
    }
    return y;
  };
  contract.work = work_of_rows(8, 3, 1);
  return contract;
}

Contract square(const std::string& name, const std::string& summary) {
  Contract contract = elementwise(name, summary);
  contract.shape = of_square;
  contract.output_shape = of_square;
  contract.work = [](const Axes& axes) {
    const auto n = static_cast<double>(axes.at("n"));
    return Work{.flops = 0, .bytes = 8 * n * n, .special_functions = 0};
  };
  return contract;
}

Contract transpose() {
  Contract contract = square("zoo_transpose", "y[column, row] = x[row, column]");
  contract.reference = each([](const Axes& axes, const TensorMap&, const Values& x, std::size_t i) {
    const auto n = static_cast<std::size_t>(axes.at("n"));
    return x[i % n * n + i / n];
  });
  contract.workloads = {{"n4096", {{"n", 4096}}}, {"n64", {{"n", 64}}}};
  return contract;
}

Contract matmul() {
  Contract contract = square("zoo_matmul", "y = x z, square matrices");
  contract.inputs = {"x", "z"};
  contract.reference = each([](const Axes& axes, const TensorMap& inputs, const Values& x, std::size_t i) {
    const auto n = static_cast<std::size_t>(axes.at("n"));
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      sum += x[i / n * n + k] * inputs.at("z")[k * n + i % n];
    }
    return sum;
  });
  contract.noise = 256 * kUnitRoundoff;
  contract.work = [](const Axes& axes) {
    const auto n = static_cast<double>(axes.at("n"));
    return Work{.flops = 2 * n * n * n, .bytes = 12 * n * n, .special_functions = 0};
  };
  contract.workloads = {{"n2048", {{"n", 2048}}}, {"n128", {{"n", 128}}}};
  return contract;
}

}  // namespace

extern "C" void apo_families(std::vector<Family>* families) {
  for (const Contract& contract :
       {copy(), axpy(), stencil(), polynomial(), tanhs(), row_sum(), softmax(), transpose(), matmul()}) {
    families->push_back(family_of(contract));
  }
}
