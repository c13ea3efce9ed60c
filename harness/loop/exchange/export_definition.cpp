// harness/loop/exchange/export_definition.cpp - the block line by line; of an imported family also what its program
// keeps of the definition.
#include "harness/loop/exchange/export_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/loop/exchange/definition.h"
#include "harness/loop/exchange/imported_problem.h"
#include "harness/loop/exchange/python_expression.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;

const SourceFile* script_of(const FamilyFile& file, const std::string& end) {
  const auto found = std::ranges::find(file.headers, file.name + end, &SourceFile::name);
  return found == file.headers.end() ? nullptr : &*found;
}

// The value of `NAME = ...` in the program that an import wrote; null for another program.
Document kept(const FamilyFile& file, const std::string& name) {
  const SourceFile* program = script_of(file, "_reference.py");
  const std::string begin = "\n" + name + " = ";
  const std::size_t at = program == nullptr ? std::string::npos : program->text.find(begin);
  if (at == std::string::npos) {
    return nullptr;
  }
  const std::size_t from = at + begin.size();
  const std::string line = program->text.substr(from, program->text.find('\n', from) - from);
  return Document::parse(line.substr(0, line.find("  #")), nullptr, false);
}

// An expression of the block in Python; sizes are positive, so that both divisions are the same.
std::string python_of(const FamilyFile& file, const std::string& text) {
  std::string python;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string two = text.substr(i, 2);
    if (two == "&&" || two == "||") {
      python += two == "&&" ? "and" : "or";
      ++i;
    } else if (text[i] == '!' && two != "!=") {
      python += " not ";
    } else if (text[i] == '?' ||
               (text[i] == '(' && i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0))) {
      throw UserError(fmt::format("{}: '{}' cannot be said in a definition", file.path, text),
                      "known there: + - * / % comparisons && || ! and parentheses");
    } else {
      python += text[i] == '/' ? std::string("//") : std::string(1, text[i]);
    }
  }
  return python;
}

// The terms of "(a) && (b)" without their parentheses.
std::vector<std::string> terms_of(const std::string& legal) {
  std::vector<std::string> terms = {""};
  int depth = 0;
  for (std::size_t i = 0; i < legal.size(); ++i) {
    depth += legal[i] == '(' ? 1 : legal[i] == ')' ? -1 : 0;
    if (depth == 0 && legal.compare(i, 2, "&&") == 0) {
      terms.emplace_back();
      ++i;
    } else {
      terms.back() += legal[i];
    }
  }
  for (std::string& term : terms) {
    term = trim(term);
    term = is_wrapped(term) ? term.substr(1, term.size() - 2) : term;
  }
  return terms;
}

std::vector<DefinitionAxis> axes_of(const FamilyFile& file) {
  std::vector<DefinitionAxis> axes;
  for (const AxisSpec& axis : file.axes) {
    const bool fixed = axis.specialised && axis.min == axis.max;
    axes.push_back({.name = axis.name,
                    .role = fixed ? AxisRole::fixed : AxisRole::variable,
                    .value = fixed ? axis.min : 0,
                    .expression = "",
                    .meaning = axis.meaning});
  }
  const Document expressions = kept(file, "EXPRESSIONS");
  for (const auto& [name, expression] : expressions.items()) {
    axes.push_back({.name = name,
                    .role = AxisRole::computed,
                    .value = 0,
                    .expression = expression.get<std::string>(),
                    .meaning = ""});
  }
  return axes;
}

// The name of an axis that is this extent; a new one where there is none.
std::string axis_for(const FamilyFile& file, Definition& definition, const std::string& extent) {
  if (parse_int(extent)) {
    return extent;
  }
  for (const DefinitionAxis& axis : definition.axes) {
    if (extent_text(definition, axis.name) == extent) {
      return axis.name;
    }
  }
  const std::string name = fmt::format("extent_{}", definition.axes.size());
  definition.axes.push_back(
      {.name = name, .role = AxisRole::computed, .value = 0, .expression = python_of(file, extent), .meaning = ""});
  return name;
}

// Orders inputs as run() does where that is known, else tensors before scalars.
std::vector<DefinitionTensor> inputs_of(const FamilyFile& file, Definition& definition) {
  std::vector<DefinitionTensor> inputs;
  for (const FileTensor& tensor : file.tensors) {
    if (tensor.role == Role::derived_input) {
      throw UserError(
          fmt::format("{}:{}: {} is derived, which a definition cannot say", file.path, tensor.line, tensor.name),
          "make it an input");
    }
    DefinitionTensor one{.name = tensor.name, .dtype = tensor.dtype, .is_scalar = false, .shape = {}, .meaning = ""};
    for (const std::string& extent : tensor.extents) {
      one.shape.push_back(axis_for(file, definition, extent));
    }
    (tensor.role == Role::output ? definition.outputs : inputs).push_back(one);
  }
  for (const ScalarSpec& scalar : file.scalars) {
    inputs.push_back({.name = scalar.name, .dtype = scalar.dtype, .is_scalar = true, .shape = {}, .meaning = ""});
  }
  const Document order = kept(file, "INPUTS");
  const auto place = [&](const DefinitionTensor& tensor) {
    return std::distance(order.begin(), std::find(order.begin(), order.end(), tensor.name));
  };
  if (order.is_array()) {
    std::stable_sort(inputs.begin(), inputs.end(),
                     [&](const DefinitionTensor& a, const DefinitionTensor& b) { return place(a) < place(b); });
  }
  return inputs;
}

// PyTorch that draws an input as the block says; "" for what SOL-ExecBench draws by itself.
std::string drawn_by(const FamilyFile& file, const FileTensor& tensor) {
  const Distribution& how = tensor.distribution;
  switch (how.kind) {
    case DistributionKind::normal:
      return how.first == 0 && how.second == 1 ? ""
                                               : fmt::format("{} + {} * torch.randn(shape)", how.first, how.second);
    case DistributionKind::uniform:
      return fmt::format("{} + {} * torch.rand(shape)", how.first, how.second - how.first);
    case DistributionKind::positive:
      return "torch.randn(shape).abs() + 2**-10";
    case DistributionKind::probability:
      return "torch.rand(shape)";
    case DistributionKind::mask:
      return tensor.dtype == DType::boolean ? "" : "torch.randint(0, 2, shape)";
    case DistributionKind::index:
      return fmt::format("torch.randint(0, 1 + ({}), shape)", python_of(file, how.largest));
    case DistributionKind::function:
      throw UserError(fmt::format("{}:{}: {} is drawn by a function of the family, which a definition cannot have",
                                  file.path, tensor.line, tensor.name),
                      "give it a distribution");
  }
  return "";
}

constexpr const char* kDrawName = "draw_inputs";

// The custom_inputs_entrypoint of a family that was not imported, with its inputs; "" where it needs none.
std::string drawing_function(const FamilyFile& file, const Definition& definition) {
  std::string body;
  for (const FileTensor& tensor : file.tensors) {
    if (const std::string drawn = tensor.role == Role::input ? drawn_by(file, tensor) : ""; !drawn.empty()) {
      const auto own = std::ranges::find(definition.inputs, tensor.name, &DefinitionTensor::name);
      body += fmt::format("    shape = [{}]\n    inputs[\"{}\"] = ({}).to(torch.{}).to(device)\n",
                          join(own->shape, ", "), tensor.name, drawn, dtype_name(tensor.dtype));
    }
  }
  if (body.empty()) {
    return "";
  }
  std::string names;
  for (const DefinitionAxis& axis : definition.axes) {
    names += fmt::format("    {0} = axes[\"{0}\"]\n", axis.name);
  }
  return fmt::format("\n\ndef {}(axes, device):\n    import torch\n{}    inputs = {{}}\n{}    return inputs\n",
                     kDrawName, names, body);
}

Document axis_document(const DefinitionAxis& axis) {
  Document document;
  if (axis.role == AxisRole::fixed) {
    document = {{"type", "const"}, {"value", axis.value}};
  } else if (axis.role == AxisRole::computed) {
    document = {{"type", "expr"}, {"expression", axis.expression}};
  } else {
    document = {{"type", "var"}};
  }
  if (!axis.meaning.empty()) {
    document["description"] = axis.meaning;
  }
  return document;
}

Document tensors_document(const std::vector<DefinitionTensor>& tensors) {
  Document document = Document::object();
  for (const DefinitionTensor& tensor : tensors) {
    Document shape = tensor.is_scalar ? Document() : Document::array();
    for (const std::string& extent : tensor.shape) {
      shape.push_back(parse_int(extent) ? Document(*parse_int(extent)) : Document(extent));
    }
    document[tensor.name] = {{"shape", shape}, {"dtype", dtype_name(tensor.dtype)}};
  }
  return document;
}

Document definition_document(const Definition& definition) {
  Document axes = Document::object();
  for (const DefinitionAxis& axis : definition.axes) {
    axes[axis.name] = axis_document(axis);
  }
  Document document = {{"name", definition.name},
                       {"op_type", definition.name},
                       {"description", definition.meaning},
                       {"axes", axes},
                       {"constraints", definition.constraints},
                       {"inputs", tensors_document(definition.inputs)},
                       {"outputs", tensors_document(definition.outputs)},
                       {"reference", definition.reference}};
  if (!definition.custom_inputs.empty()) {
    document["custom_inputs_entrypoint"] = definition.custom_inputs;
  }
  return document;
}

Document input_document(const FamilyFile& file, const DefinitionTensor& tensor, const Axes& axes) {
  if (tensor.is_scalar) {
    const auto scalar = std::ranges::find(file.scalars, tensor.name, &ScalarSpec::name);
    return {{"type", "scalar"}, {"value", as_written(*scalar)}};
  }
  const Document drawn = kept(file, "DRAWN");
  const std::string rule =
      drawn.is_object() && drawn.contains(tensor.name) ? drawn.at(tensor.name).get<std::string>() : "";
  if (rule == "recorded") {
    std::vector<std::string> key;
    for (const AxisSpec& axis : file.axes) {
      key.push_back(fmt::format("{}={}", axis.name, axes.at(axis.name)));
    }
    return {{"type", "safetensors"},
            {"path", file.name + "_recorded.safetensors"},
            {"tensor_key", join(key, ",") + "/" + tensor.name}};
  }
  const auto own = std::ranges::find(file.tensors, tensor.name, &FileTensor::name);
  const bool custom = drawn.is_object() ? rule == "custom" : !drawn_by(file, *own).empty();
  return {{"type", custom ? "custom" : "random"}};
}

std::string workload_lines(const FamilyFile& file, const Definition& definition) {
  const Document tolerance =
      file.tolerance ? Document{{"max_rtol", file.tolerance->relative}, {"max_atol", file.tolerance->absolute}}
                     : kept(file, "TOLERANCE");
  std::string lines;
  for (const Workload& workload : file.workloads) {
    Document axes = Document::object();
    for (const DefinitionAxis& axis : definition.axes) {
      if (axis.role == AxisRole::variable) {
        axes[axis.name] = workload.axes.at(axis.name);
      }
    }
    Document inputs = Document::object();
    for (const DefinitionTensor& tensor : definition.inputs) {
      inputs[tensor.name] = input_document(file, tensor, workload.axes);
    }
    const auto origin = file.workload_origins.find(workload.name);
    Document line = {{"uuid", origin == file.workload_origins.end() ? workload.name : origin->second},
                     {"axes", axes},
                     {"inputs", inputs}};
    if (tolerance.is_object()) {
      line["tolerance"] = tolerance;
    }
    lines += line.dump() + "\n";
  }
  return lines;
}

// Reads a module on standard input; its argument is the number of arguments that run() is called with.
constexpr const char* kCheckScript = R"python(
import ast, sys
try:
    body = ast.parse(sys.stdin.buffer.read()).body
except SyntaxError as error:
    sys.exit(f"{error.lineno or 1}: {error.msg}")
except ValueError as error:
    sys.exit(f"1: {error}")
functions = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == "run"]
if not functions:
    sys.exit("1: there is no function 'run'")
own = functions[-1].args
most = len(own.posonlyargs) + len(own.args)
given = int(sys.argv[1])
if given < most - len(own.defaults) or (given > most and not own.vararg):
    sys.exit(f"{functions[-1].lineno}: run() takes {most} arguments and is called with {given}")
)python";

std::string signature(const Definition& definition) {
  std::vector<std::string> names;
  for (const DefinitionTensor& tensor : definition.inputs) {
    names.push_back(tensor.name);
  }
  return "run(" + join(names, ", ") + ")";
}

// Without its constraints and reference.
Definition contract_of(const FamilyFile& file) {
  Definition definition{.path = file.path,
                        .name = file.origin.empty() ? file.name : file.origin,
                        .meaning = file.idea,
                        .axes = axes_of(file),
                        .constraints = {},
                        .inputs = {},
                        .outputs = {},
                        .reference = "",
                        .custom_inputs = ""};
  definition.inputs = inputs_of(file, definition);
  return definition;
}

}  // namespace

std::string python_reference(const FamilyFile& file, const std::string& path) {
  const Definition definition = contract_of(file);
  std::string text = read_file(path);
  const ProcessResult checked = run_process(
      {require_program("python3"), "-c", kCheckScript, std::to_string(definition.inputs.size())}, {.input = text});
  if (!checked.ok()) {
    throw UserError(path + ":" + trim(checked.error),
                    "the reference is Python with the function def " + signature(definition));
  }
  return text;
}

std::vector<NamedText> definition_texts(const FamilyFile& file, const std::string& reference) {
  Definition definition = contract_of(file);
  definition.reference = reference;
  for (const std::string& term : file.legal == "1" ? std::vector<std::string>() : terms_of(file.legal)) {
    definition.constraints.push_back(python_of(file, term));
  }
  const SourceFile* imported = script_of(file, "_definition.py");
  if (imported != nullptr && reference.empty()) {
    definition.reference = imported->text;
  } else if (reference.empty()) {
    throw UserError(
        fmt::format("a definition has its reference in Python, and that of {} is not", file.name),
        fmt::format("write one in PyTorch, and name its file with --reference: def {}", signature(definition)));
  }
  const Document custom = kept(file, "CUSTOM");
  if (custom.is_string()) {
    definition.custom_inputs = custom.get<std::string>();
  } else if (const std::string drawing = drawing_function(file, definition); !drawing.empty()) {
    definition.reference += drawing;
    definition.custom_inputs = kDrawName;
  }
  std::vector<NamedText> files = {
      {.path = "definition.json", .contents = definition_document(definition).dump(2) + "\n"},
      {.path = "workload.jsonl", .contents = workload_lines(file, definition)}};
  if (const SourceFile* recorded = script_of(file, "_recorded.safetensors")) {
    files.push_back({.path = recorded->name, .contents = recorded->text});
  }
  return files;
}

}  // namespace apo
