// harness/families/oracle_source.cpp - the contract as numbers, and calls of reference(axes..., scalars..., tensors...)
// in its order.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/core/expression/expression.h"
#include "harness/core/text.h"
#include "harness/families/oracle_program.h"

namespace apo {
namespace {

// Absolute, so that no tool puts the build's folder before it.
std::string name_in_source(const FamilyFile& file) {
  return "/family/" + file.name + ".h";
}

bool any_doubles(const FamilyFile& file) {
  return std::ranges::any_of(file.tensors, [](const FileTensor& tensor) { return tensor.dtype == DType::f64; });
}

std::string tensor_argument(const FamilyFile& file, std::size_t t, const char* real, bool is_given = false) {
  return fmt::format("c.{}<{}>({})", is_given ? "given" : "numbers",
                     is_float(file.tensors[t].dtype) ? real : "std::int64_t", t);
}

std::vector<std::string> size_arguments(const FamilyFile& file) {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < file.axes.size(); ++i) {
    arguments.push_back(fmt::format("c.axes[{}]", i));
  }
  return arguments;
}

std::string call(const FamilyFile& file, const std::string& function, Role last) {
  std::vector<std::string> arguments = size_arguments(file);
  for (std::size_t i = 0; i < file.scalars.size(); ++i) {
    arguments.push_back(is_float(file.scalars[i].dtype) ? fmt::format("c.scalars[{}]", i)
                                                        : fmt::format("static_cast<std::int64_t>(c.scalars[{}])", i));
  }
  for (std::size_t t = 0; t < file.tensors.size() && file.tensors[t].role <= last; ++t) {
    if (last == Role::output && !is_argument(file.tensors[t])) {
      continue;
    }
    arguments.push_back(
        tensor_argument(file, t, last == Role::output ? "Real" : "double", file.tensors[t].role != last));
  }
  return fmt::format("{}({});", function, join(arguments, ", "));
}

// Leaves out the block's text, so that a changed workload or tolerance needs no new build.
std::string code_of(const FamilyFile& file) {
  std::string code;
  for (const std::string& line : split(file.text, '\n')) {
    code += (trim(line).starts_with("// apo:") ? "//" : line) + "\n";
  }
  return code;
}

std::string fills(const FamilyFile& file) {
  std::string text;
  for (std::size_t t = 0; t < file.tensors.size(); ++t) {
    const FileTensor& tensor = file.tensors[t];
    if (tensor.role == Role::input && tensor.distribution.kind == DistributionKind::function) {
      std::vector<std::string> arguments = size_arguments(file);
      arguments.insert(arguments.end(), {"random", tensor_argument(file, t, "double")});
      text += fmt::format("    if (c.filled == {}) ::fill_{}({});\n", t, tensor.name, join(arguments, ", "));
    }
  }
  return text;
}

}  // namespace

std::string oracle_source(const FamilyFile& file) {
  const bool doubles = any_doubles(file);
  const bool derives =
      std::ranges::any_of(file.tensors, [](const FileTensor& tensor) { return tensor.role == Role::derived_input; });
  std::string text = "#include \"kernels/oracle/number.h\"\n";
  text += fmt::format("#line 1 \"{}\"\n{}\n", name_in_source(file), code_of(file));
  text += "#line 1 \"calls of " + file.name + "\"\n";
  text += "#include \"kernels/oracle/call.h\"\nnamespace {\nstruct Functions {\n";
  // Double outputs need a more precise reference.
  text += fmt::format("  using Exact = {};\n  using Honest = {};\n  using Noisy = apo::oracle::Perturbed<{}>;\n",
                      doubles ? "long double" : "double", doubles ? "double" : "float",
                      doubles ? "53, long double" : "24, double");
  text += "  template <class Real>\n  static void reference(apo::oracle::Call& c) {\n    " +
          call(file, "::reference<Real>", Role::output) + "\n  }\n";
  text +=
      "  static void fill([[maybe_unused]] apo::oracle::Call& c, [[maybe_unused]] std::uint64_t seed) {\n"
      "    [[maybe_unused]] apo::Random random(seed);\n" +
      fills(file) + "  }\n";
  text += "  static void derive([[maybe_unused]] apo::oracle::Call& c) {\n    " +
          (derives ? call(file, "::derive<double>", Role::derived_input) : std::string()) + "\n  }\n";
  return text +
         "};\n}  // namespace\nconst apo::oracle::Program apo::oracle::program = "
         "apo::oracle::program_of<Functions>();\n";
}

std::string in_familys_words(const std::string& said, const FamilyFile& file) {
  return replace_all(said, name_in_source(file), file.path);
}

oracle::Contract contract_at(const FamilyFile& file, const Axes& axes) {
  oracle::Contract contract;
  const auto axis_index = [&](const std::string& name) {
    const auto found = std::ranges::find(file.axes, name, &AxisSpec::name);
    return found == file.axes.end() ? std::int64_t{-1} : static_cast<std::int64_t>(found - file.axes.begin());
  };
  for (const AxisSpec& axis : file.axes) {
    contract.axes.push_back(axes.at(axis.name));
  }
  for (const ScalarSpec& scalar : file.scalars) {
    contract.scalars.push_back(scalar.value);
  }
  for (const FileTensor& tensor : file.tensors) {
    oracle::TensorShape shape{.is_integer = !is_float(tensor.dtype), .extents = {}, .axis = {}, .beyond = {}};
    if (tensor.in_place && tensor.role == Role::output) {
      shape.before = std::ranges::find(file.tensors, tensor.name, &FileTensor::name) - file.tensors.begin();
    }
    for (const std::string& extent : tensor.extents) {
      shape.extents.push_back(evaluate_size(extent, axes));
      const std::string axis = axis_of_extent(file, extent, axes);
      shape.axis.push_back(axis_index(axis));
      shape.beyond.push_back(axis.empty() ? 0 : shape.extents.back() - axes.at(axis));
    }
    contract.tensors.push_back(std::move(shape));
  }
  const std::vector<std::string> groups = unit_groups(file);
  const auto group_of = [&](const std::string& output) {
    return static_cast<std::int64_t>(std::ranges::find(groups, output) - groups.begin());
  };
  contract.groups = std::ssize(groups);
  for (const FileUnitAxis& unit : units_at(file, axes)) {
    contract.unit_axes.push_back({.axis = axis_index(unit.axis), .block = unit.block, .group = group_of(unit.output)});
  }
  for (std::size_t t = 0; t < file.tensors.size() && groups.front() != ""; ++t) {
    contract.tensors[t].group = file.tensors[t].role == Role::output ? group_of(file.tensors[t].name) : -1;
  }
  return contract;
}

std::vector<std::int64_t> all_units(const oracle::Contract& contract) {
  std::vector<std::int64_t> units(static_cast<std::size_t>(oracle::unit_count(contract)));
  std::iota(units.begin(), units.end(), std::int64_t{0});
  return units;
}

}  // namespace apo
