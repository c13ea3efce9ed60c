// harness/loop/export/torch/torch_op.cpp - writes the op of a family; what all families share are files of the program.
#include "harness/loop/export/torch/torch_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/variant/expression_cpp.h"
#include "harness/implement/variant/form.h"
#include "harness/implement/variant/include_folders.h"
#include "harness/loop/export/dispatch_header.h"
#include "harness/loop/export/dispatch_sources.h"
#include "harness/loop/export/torch/torch_cases.h"
#include "harness/loop/export/torch/torch_contract.h"
#include "harness/loop/export/torch/torch_gradient.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Document = nlohmann::ordered_json;

constexpr std::string_view kFamilyPlace = "@FAMILY@";

constexpr const char* kOp =
    R"text(// {family}_op.cpp - a dispatch table for Python; written by 'apo export --torch': do not edit.
#include "{header}"

#include <vector>

namespace table = apo_dispatch::{family};

// In the order of the contract.
constexpr std::int64_t table::Axes::*kAxes[] = {{{axes}}};

// Of all tensors, one after the other.
inline std::vector<table::detail::Number> extents([[maybe_unused]] const table::Axes& axes) {{
  using namespace table::detail;
  return {{
{extents}  }};
}}

#include "apo_op.hpp"
)text";

std::string op_text(const TorchContract& contract) {
  std::vector<std::string> axes;
  for (const TorchAxis& axis : contract.axes) {
    axes.push_back("&table::Axes::" + axis.name);
  }
  std::string extents;
  for (const auto* tensors : {&contract.inputs, &contract.outputs}) {
    for (const TorchTensor& tensor : *tensors) {
      extents += fmt::format("      // {} {}\n", tensor.spec->name, tensor.spec->shape_text);
      for (const std::string& extent : tensor.extents) {
        const auto symbol = [](std::string_view axis) { return fmt::format("number(axes.{})", axis); };
        extents += fmt::format("      {},\n", to_cpp(extent, symbol));
      }
    }
  }
  return fmt::format(fmt::runtime(kOp), fmt::arg("family", contract.family->name),
                     fmt::arg("header", dispatch_header_name(*contract.family)), fmt::arg("axes", join(axes, ", ")),
                     fmt::arg("extents", extents));
}

Document tensors_document(const std::vector<TorchTensor>& tensors) {
  Document documents = Document::array();
  for (const TorchTensor& tensor : tensors) {
    documents.push_back({{"name", tensor.spec->name},
                         {"dtype", torch_dtype(tensor.spec->dtype)},
                         {"extents", tensor.spec->shape_text},
                         {"rank", tensor.extents.size()}});
  }
  return documents;
}

Document axes_document(const TorchContract& contract) {
  Document documents = Document::array();
  for (const TorchAxis& axis : contract.axes) {
    Document document = {{"name", axis.name}};
    if (axis.is_extent) {
      document["input"] = axis.input;
      document["dimension"] = axis.dimension;
    } else if (axis.default_value) {
      document["default"] = *axis.default_value;
    }
    documents.push_back(document);
  }
  return documents;
}

Document scalars_document(const Family& family) {
  Document documents = Document::array();
  for (const ScalarSpec& scalar : family.scalars) {
    documents.push_back({{"name", scalar.name}, {"dtype", torch_dtype(scalar.dtype)}, {"value", scalar.value}});
  }
  return documents;
}

// Absolute where they are: the export lies elsewhere.
std::vector<std::string> include_paths(const Variant& variant) {
  std::vector<std::string> paths;
  for (const std::string& named : variant.includes) {
    const fs::path found = named == "cccl" ? fs::path() : include_folder(named, variant.path);
    paths.push_back(found.empty() ? named : found.string());
  }
  return paths;
}

// Writes the compilation of each row's source.
Document sources_document(const DispatchTable& table) {
  Document sources = Document::object();
  for (const DispatchDevice& device : table.devices) {
    for (const DispatchRow& row : device.rows) {
      const Variant& variant = row.variant;
      sources[source_folder(row)] = {{"file", source_file(row)},
                                     {"plain", plain_source(*table.family, variant).name},
                                     {"target", to_string(variant.target)},
                                     {"arch", variant.arch},
                                     {"kernels", is_device_variant(variant)},
                                     {"libraries", variant.libraries},
                                     {"includes", include_paths(variant)}};
    }
  }
  return sources;
}

Document gradient_document(const TorchGradient& gradient) {
  Document inputs = Document::array();
  for (const GradientInput& input : gradient.inputs) {
    using Is = GradientInput::Is;
    const char* is = input.is == Is::input ? "input" : input.is == Is::output ? "output" : "gradient";
    inputs.push_back({is, input.index});
  }
  return {{"op", gradient.contract.family->name},
          {"inputs", inputs},
          {"outputs", gradient.outputs},
          {"arguments", gradient.arguments}};
}

// What the Python file knows of the contract and of the table.
Document op_document(const TorchContract& contract, const std::optional<TorchGradient>& gradient,
                     const DispatchTable& table) {
  return {{"schema", torch_schema(contract)},
          {"inputs", tensors_document(contract.inputs)},
          {"outputs", tensors_document(contract.outputs)},
          {"axes", axes_document(contract)},
          {"scalars", scalars_document(*contract.family)},
          {"gradient", gradient ? gradient_document(*gradient) : Document(nullptr)},
          {"sources", sources_document(table)}};
}

void add_calls(const DispatchTable& table, std::vector<NamedText>& files) {
  for (const DispatchDevice& device : table.devices) {
    for (const DispatchRow& row : device.rows) {
      const fs::path folder = source_folder(row);
      const SourceFile plain = plain_source(*table.family, row.variant);
      const bool is_there =
          std::ranges::any_of(files, [&](const NamedText& one) { return one.path == folder / plain.name; });
      if (!is_device_variant(row.variant) && !is_there) {
        files.push_back({folder / plain.name, plain.text});
      }
    }
  }
}

}  // namespace

std::vector<NamedText> torch_files(const DispatchTable& table, const fs::path& home, int threads) {
  const std::string& family = table.family->name;
  const TorchContract contract = torch_contract(*table.family);
  const std::optional<TorchGradient> gradient = torch_gradient(contract);
  const fs::path texts = home / "harness" / "loop" / "export" / "torch";
  std::vector<NamedText> files = {
      {family + "_op.cpp", op_text(contract)},
      {family + "_op.py", replace_all(read_file(texts / "op.py"), kFamilyPlace, family)},
      {"test_" + family + ".py", replace_all(read_file(texts / "test.py"), kFamilyPlace, family)},
      {family + "_op.json", op_document(contract, gradient, table).dump(2) + "\n"},
      {"apo_op.hpp", read_file(texts / "apo_op.hpp")},
      {"kernels/abi.h", read_file(home / "kernels" / "abi.h")}};
  add_calls(table, files);
  std::vector<NamedText> cases = torch_cases(contract, gradient, table, threads);
  files.insert(files.end(), std::make_move_iterator(cases.begin()), std::make_move_iterator(cases.end()));
  return files;
}

}  // namespace apo
