// harness/loop/exchange/definition.cpp - reads each field and says which one is wrong.
#include "harness/loop/exchange/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/exchange/document_field.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

constexpr double kTheirTolerance = 1e-2;

constexpr std::pair<std::string_view, DType> kDTypeNames[] = {
    {"float64", DType::f64},        {"float32", DType::f32},      {"float16", DType::f16}, {"bfloat16", DType::bf16},
    {"float8_e4m3fn", DType::e4m3}, {"float8_e5m2", DType::e5m2}, {"int64", DType::i64},   {"int32", DType::i32},
    {"int16", DType::i16},          {"int8", DType::i8},          {"bool", DType::boolean}};

using Field = DocumentField;

constexpr const char* kFormat = "docs/definitions.md describes the format";

DType read_dtype(const Field& field) {
  const std::string name = field.text();
  if (name.starts_with("float4")) {
    field.fail("is " + name + ": apo has no 4-bit floats", "problems with packed 4-bit tensors cannot be imported");
  }
  std::vector<std::string> known;
  for (const auto& [text, dtype] : kDTypeNames) {
    if (name == text) {
      return dtype;
    }
    known.emplace_back(text);
  }
  field.fail("names an unknown dtype '" + name + "'", did_you_mean(name, known) + "  known: " + join(known, " "));
}

DefinitionAxis read_axis(const std::string& name, const Field& field) {
  if (!is_identifier(name)) {
    field.fail("is no identifier");
  }
  DefinitionAxis axis{.name = name, .role = AxisRole::variable, .value = 0, .expression = "", .meaning = ""};
  axis.meaning = field.text_or_nothing("description");
  const std::string type = field.at("type").text();
  if (type == "const") {
    axis.role = AxisRole::fixed;
    axis.value = field.at("value").integer();
    if (axis.value < 1) {
      field.at("value").fail(fmt::format("is {}: extents are at least 1", axis.value));
    }
  } else if (type == "expr") {
    axis.role = AxisRole::computed;
    axis.expression = field.at("expression").text();
  } else if (type != "var") {
    field.at("type").fail("is '" + type + "'", "known: var const expr");
  }
  return axis;
}

std::vector<std::string> names_of(const std::vector<DefinitionAxis>& axes) {
  std::vector<std::string> names;
  for (const DefinitionAxis& axis : axes) {
    names.push_back(axis.name);
  }
  return names;
}

DefinitionTensor read_tensor(const Definition& definition, const std::string& name, const Field& field) {
  if (!is_identifier(name)) {
    field.fail("is no identifier");
  }
  DefinitionTensor tensor{.name = name, .dtype = read_dtype(field.at("dtype")), .meaning = ""};
  tensor.meaning = field.text_or_nothing("description");
  tensor.is_scalar = field.at("shape").is_null();
  if (tensor.is_scalar) {
    return tensor;
  }
  const std::vector<std::string> known = names_of(definition.axes);
  field.at("shape").each_element([&](const Field& extent) {
    const std::string word = extent.word();
    if (!parse_int(word) && std::ranges::find(known, word) == known.end()) {
      extent.fail("is '" + word + "', which is no axis", did_you_mean(word, known) + "  the axes: " + join(known, " "));
    }
    tensor.shape.push_back(word);
  });
  return tensor;
}

WorkloadInput read_input(const Field& field) {
  WorkloadInput input;
  const std::string type = field.at("type").text();
  if (type == "scalar") {
    input.source = InputSource::scalar;
    input.value = field.at("value").number();
  } else if (type == "safetensors") {
    input = {.source = InputSource::recorded,
             .value = 0,
             .path = field.at("path").text(),
             .key = field.at("tensor_key").text()};
    const fs::path path = input.path;
    if (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end()) {
      field.at("path").fail("is '" + input.path + "'", "give a path below the folder of the problem, without '..'");
    }
  } else if (type == "custom") {
    input.source = InputSource::custom;
  } else if (type != "random") {
    field.at("type").fail("is '" + type + "'", "known: random scalar safetensors custom");
  }
  return input;
}

void check_fit(const Definition& definition, const DefinitionTensor& tensor, const WorkloadInput& input,
               const Field& field) {
  if (tensor.is_scalar != (input.source == InputSource::scalar)) {
    field.fail(tensor.is_scalar ? "gives no value for a scalar" : "gives a value for a tensor");
  }
  if (input.source == InputSource::custom && definition.custom_inputs.empty()) {
    field.fail("is custom, and the definition has no custom_inputs_entrypoint");
  }
}

DefinitionWorkload read_workload(const Definition& definition, int line, const Field& field) {
  DefinitionWorkload workload{.line = line, .uuid = field.at("uuid").text(), .axes = {}, .inputs = {}};
  if (split_words(workload.uuid).size() != 1) {
    field.at("uuid").fail("is empty or has spaces");
  }
  field.at("axes").each_member([&](const std::string& name, const Field& value) {
    const auto axis = std::ranges::find(definition.axes, name, &DefinitionAxis::name);
    if (axis == definition.axes.end()) {
      value.fail("is no axis of the definition", did_you_mean(name, names_of(definition.axes)));
    }
    if (axis->role == AxisRole::variable) {
      workload.axes[name] = value.integer();
    }
  });
  for (const DefinitionAxis& axis : definition.axes) {
    if (axis.role == AxisRole::variable) {
      (void)field.at("axes").at(axis.name);
    }
  }
  for (const DefinitionTensor& tensor : definition.inputs) {
    const Field own = field.at("inputs").at(tensor.name);
    workload.inputs[tensor.name] = read_input(own);
    check_fit(definition, tensor, workload.inputs[tensor.name], own);
  }
  workload.tolerance = {.relative = kTheirTolerance, .absolute = kTheirTolerance};
  if (field.has("tolerance")) {
    const Field own = field.at("tolerance");
    workload.tolerance.absolute = own.has("max_atol") ? own.at("max_atol").number() : kTheirTolerance;
    workload.tolerance.relative = own.has("max_rtol") ? own.at("max_rtol").number() : kTheirTolerance;
  }
  return workload;
}

}  // namespace

std::string dtype_name(DType dtype) {
  const auto* found = std::ranges::find(kDTypeNames, dtype, &std::pair<std::string_view, DType>::second);
  if (found == std::end(kDTypeNames)) {
    throw UserError(fmt::format("definitions have no dtype {}", to_string(dtype)),
                    "docs/definitions.md has those they have");
  }
  return std::string(found->first);
}

double as_written(const ScalarSpec& scalar) {
  const std::string shortest = fmt::format("{}", static_cast<float>(scalar.value));
  return scalar.dtype == DType::f32 ? parse_double(shortest).value_or(scalar.value) : scalar.value;
}

Definition read_definition(const fs::path& path) {
  const Document document = parse_document(read_file(path), path.string());
  const Field all(path.string() + ":", document, kFormat);
  Definition definition{.path = path.string(), .name = all.at("name").text(), .meaning = "", .reference = ""};
  definition.meaning = all.text_or_nothing("description");
  all.at("axes").each_member(
      [&](const std::string& name, const Field& field) { definition.axes.push_back(read_axis(name, field)); });
  if (all.has("constraints")) {
    all.at("constraints").each_element([&](const Field& field) { definition.constraints.push_back(field.text()); });
  }
  all.at("inputs").each_member([&](const std::string& name, const Field& field) {
    definition.inputs.push_back(read_tensor(definition, name, field));
  });
  all.at("outputs").each_member([&](const std::string& name, const Field& field) {
    definition.outputs.push_back(read_tensor(definition, name, field));
    definition.outputs.back().is_scalar = false;  // a number that run() returns is a tensor without extents
  });
  definition.reference = all.at("reference").text();
  definition.custom_inputs = all.text_or_nothing("custom_inputs_entrypoint");
  return definition;
}

std::vector<DefinitionWorkload> read_workloads(const Definition& definition, const fs::path& path) {
  std::vector<DefinitionWorkload> workloads;
  std::set<std::string> uuids;
  int line = 0;
  for (const std::string& text : split(read_file(path), '\n')) {
    ++line;
    if (trim(text).empty()) {
      continue;
    }
    const Document document = parse_document(text, path.string(), line);
    const Field all(fmt::format("{}:{}:", path.string(), line), document, kFormat);
    if (all.has("definition") && all.at("definition").text() != definition.name) {
      all.at("definition").fail("is '" + all.at("definition").text() + "', not '" + definition.name + "'");
    }
    workloads.push_back(read_workload(definition, line, all.has("workload") ? all.at("workload") : all));
    if (!uuids.insert(workloads.back().uuid).second) {
      all.fail("the workload '" + workloads.back().uuid + "' is repeated", "remove one of them");
    }
  }
  if (workloads.empty()) {
    throw UserError("'" + path.string() + "' has no workloads", "one JSON object a line");
  }
  return workloads;
}

}  // namespace apo
