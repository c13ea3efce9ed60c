// harness/loop/export/torch/torch_contract.cpp - reads extents, finds the axes that inputs tell, writes the schema.
#include "harness/loop/export/torch/torch_contract.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/expression/expression_tree.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"

namespace apo {
namespace {

std::vector<std::string> axis_names(const Family& family) {
  std::vector<std::string> names;
  for (const AxisSpec& axis : family.axes) {
    names.push_back(axis.name);
  }
  return names;
}

// Families that are part of the program have shapes as functions; their text has to say the same on every workload.
bool says_the_shape(const Family& family, const TorchTensor& tensor) {
  const std::vector<std::string> names = axis_names(family);
  const auto is_expression = [&](const std::string& extent) { return check_expression(extent, names).empty(); };
  return std::ranges::all_of(tensor.extents, is_expression) &&
         std::ranges::all_of(family.workloads, [&](const Workload& workload) {
           std::vector<std::int64_t> shape;
           for (const std::string& extent : tensor.extents) {
             shape.push_back(evaluate_size(extent, workload.axes));
           }
           return shape == tensor.spec->shape(workload.axes);
         });
}

TorchTensor torch_tensor(const Family& family, const TensorSpec& spec) {
  TorchTensor tensor{.spec = &spec, .extents = {}};
  const std::string& text = spec.shape_text;
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    for (const std::string& extent : split_expressions(text.substr(1, text.size() - 2))) {
      tensor.extents.push_back(trim(extent));
    }
  }
  if (!says_the_shape(family, tensor)) {
    throw UserError("family " + family.name + " cannot become an op of PyTorch: the shape " + text + " of its tensor " +
                        spec.name + " is not one of expressions over its axes",
                    "describe the family in a file: 'apo new' writes one");
  }
  return tensor;
}

// The first input that has the axis as a whole extent tells it.
TorchAxis torch_axis(const TorchContract& contract, const std::string& name) {
  TorchAxis axis{.name = name, .default_value = std::nullopt};
  for (std::size_t input = 0; input < contract.inputs.size(); ++input) {
    const std::vector<std::string>& extents = contract.inputs[input].extents;
    const auto found = std::ranges::find(extents, name);
    if (found != extents.end()) {
      axis.is_extent = true;
      axis.input = input;
      axis.dimension = static_cast<std::size_t>(found - extents.begin());
      return axis;
    }
  }
  const FamilyFile* file = find_family_file(contract.family->name);
  if (file != nullptr && file->axis_defaults.contains(name)) {
    axis.default_value = file->axis_defaults.at(name);
  }
  return axis;
}

std::string scalar_argument(const ScalarSpec& scalar) {
  return is_float(scalar.dtype) ? fmt::format("float {}={:.17g}", scalar.name, scalar.value)
                                : fmt::format("int {}={}", scalar.name, static_cast<std::int64_t>(scalar.value));
}

}  // namespace

TorchContract torch_contract(const Family& family) {
  TorchContract contract{.family = &family};
  for (const TensorSpec& spec : family.tensors) {
    (spec.role == Role::output ? contract.outputs : contract.inputs).push_back(torch_tensor(family, spec));
  }
  if (contract.inputs.empty()) {
    throw UserError("family " + family.name + " cannot become an op of PyTorch: it has no input");
  }
  for (const AxisSpec& axis : family.axes) {
    contract.axes.push_back(torch_axis(contract, axis.name));
  }
  return contract;
}

std::vector<const TorchAxis*> torch_arguments(const TorchContract& contract) {
  std::vector<const TorchAxis*> arguments;
  for (const bool with_default : {false, true}) {
    for (const TorchAxis& axis : contract.axes) {
      if (!axis.is_extent && axis.default_value.has_value() == with_default) {
        arguments.push_back(&axis);
      }
    }
  }
  return arguments;
}

std::string torch_schema(const TorchContract& contract) {
  std::vector<std::string> parameters;
  for (const TorchTensor& input : contract.inputs) {
    parameters.push_back("Tensor " + input.spec->name);
  }
  std::vector<std::string> named;
  for (const TorchAxis* axis : torch_arguments(contract)) {
    named.push_back("int " + axis->name + (axis->default_value ? fmt::format("={}", *axis->default_value) : ""));
  }
  for (const ScalarSpec& scalar : contract.family->scalars) {
    named.push_back(scalar_argument(scalar));
  }
  std::vector<std::string> results;
  for (const TorchTensor& output : contract.outputs) {
    results.push_back("Tensor " + output.spec->name);
  }
  const std::string all = join(parameters, ", ") + (named.empty() ? "" : ", *, " + join(named, ", "));
  return contract.family->name + "(" + all + ") -> " +
         (results.size() == 1 ? "Tensor" : "(" + join(results, ", ") + ")");
}

std::string_view torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::e4m3:
      return "float8_e4m3fn";
    case DType::e5m2:
      return "float8_e5m2";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::i16:
      return "int16";
    case DType::i8:
      return "int8";
    case DType::u8:
      return "uint8";
    case DType::boolean:
      return "bool";
  }
  check_failed("a known dtype", __FILE__, __LINE__);
}

}  // namespace apo
