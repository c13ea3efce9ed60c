// harness/families/oracle_source.cpp - calls reference(axes..., scalars..., tensors...) in the order of the contract.
#include "harness/families/oracle_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/text.h"

namespace apo {
namespace {

// Absolute, so that no tool puts the build's folder before it.
std::string name_in_source(const FamilyFile& file) {
  return "/family/" + file.name + ".h";
}

bool any_doubles(const FamilyFile& file) {
  return std::ranges::any_of(file.tensors, [](const FileTensor& tensor) { return tensor.dtype == DType::f64; });
}

std::string tensor_argument(const FamilyFile& file, std::size_t t) {
  return fmt::format("c.{}[{}].data()", is_float(file.tensors[t].dtype) ? "reals" : "integers", t);
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
    const std::string constant =
        file.tensors[t].role == last
            ? ""
            : fmt::format("std::as_const(c.{}[{}]).data()", is_float(file.tensors[t].dtype) ? "reals" : "integers", t);
    arguments.push_back(constant.empty() ? tensor_argument(file, t) : constant);
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
      arguments.insert(arguments.end(), {"random", tensor_argument(file, t)});
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
  text += "  template <class Real>\n  static void reference(apo::oracle::Call<Real>& c) {\n    " +
          call(file, "::reference<Real>", Role::output) + "\n  }\n";
  text +=
      "  static void fill([[maybe_unused]] apo::oracle::Call<double>& c, [[maybe_unused]] std::uint64_t seed) {\n"
      "    [[maybe_unused]] apo::Random random(seed);\n" +
      fills(file) + "  }\n";
  text += "  static void derive([[maybe_unused]] apo::oracle::Call<double>& c) {\n    " +
          (derives ? call(file, "::derive<double>", Role::derived_input) : std::string()) + "\n  }\n";
  return text +
         "};\n}  // namespace\nconst apo::oracle::Program apo::oracle::program = "
         "apo::oracle::program_of<Functions>();\n";
}

std::string in_familys_words(std::string said, const FamilyFile& file) {
  const std::string name = name_in_source(file);
  for (std::size_t at = said.find(name); at != std::string::npos; at = said.find(name, at + file.path.size())) {
    said.replace(at, name.size(), file.path);
  }
  return said;
}

}  // namespace apo
