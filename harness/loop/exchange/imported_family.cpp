// harness/loop/exchange/imported_family.cpp - writes the files line by line.
#include "harness/loop/exchange/imported_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/families/family_file.h"
#include "harness/loop/exchange/adapter_text.h"

namespace apo {
namespace {

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool ends_as(const std::string& name, std::initializer_list<std::string_view> ends) {
  const std::string base = name.substr(0, name.find_last_not_of("0123456789") + 1);
  return std::ranges::any_of(ends, [&](std::string_view end) { return base.ends_with(end); });
}

// Describes the draw of an input: a distribution of the block, or for `fill` that of the program.
struct Draw {
  std::string distribution;
  std::string rule;
};

// SOL-ExecBench draws a float input by its name (core/bench/io.py). Weights of norms are 1 and biases 0 there; here
// they vary about that, so that a kernel that leaves them out is wrong.
Draw draw_by_name(const ImportedProblem& problem, const DefinitionTensor& tensor) {
  const std::string& name = tensor.name;
  const std::size_t rank = tensor.shape.size();
  if (ends_as(name, {"norm_weight", "norm1_weight", "norm2_weight"})) {
    return {"normal(1,0.1)", ""};
  }
  if (ends_as(name, {"norm_bias", "norm1_bias", "norm2_bias"})) {
    return {"normal(0,0.1)", ""};
  }
  if (is_one_of(name, {"attention_mask", "causal_mask"}) && rank >= 2 &&
      tensor.shape[rank - 1] == tensor.shape[rank - 2]) {
    return {"fill", "causal"};
  }
  if (name.ends_with("_mask") && (name != "attention_mask" || rank < 3)) {
    return {"mask", ""};
  }
  if (is_one_of(name, {"cos", "sin", "cos_cached", "sin_cached", "rope_cos", "rope_sin"})) {
    return {"uniform(-1,1)", ""};
  }
  if (ends_as(name, {"rstd", "_std", "variance", "_var"}) || is_one_of(name, {"std", "var"})) {
    return {"uniform(0.1,2)", ""};
  }
  if (is_one_of(name, {"A_log", "A", "g"})) {
    return {name == "A_log" ? "uniform(-5,-1)" : name == "A" ? "uniform(-1,-0.001)" : "uniform(-5,0)", ""};
  }
  if (is_one_of(name, {"A_cumsum", "attn_weights", "attention_weights", "routing_weights"})) {
    return {"fill", name == "A_cumsum" ? "cumsum" : "softmax"};
  }
  if (rank >= 2 && (name == "weight" || ends_as(name, {"_weight", "_weights", "_proj", "_projs", "_weight_matrix"}))) {
    const Axes& axes = problem.workloads.front().axes;
    const double width = static_cast<double>(extents_of(problem, tensor, axes).back());
    return {fmt::format("normal(0,{:.4g})", 1 / std::sqrt(width)), ""};
  }
  return {"normal", ""};
}

Draw draw_of(const ImportedProblem& problem, const DefinitionTensor& tensor) {
  const InputSource source = problem.workloads.front().source.inputs.at(tensor.name).source;
  if (source == InputSource::recorded || source == InputSource::custom) {
    return {"fill", source == InputSource::custom ? "custom" : "recorded"};
  }
  if (tensor.dtype == DType::boolean) {
    return {"mask", ""};
  }
  if (!is_float(tensor.dtype)) {
    return {tensor.dtype == DType::i8 ? "uniform(-128,127)" : "uniform(-1024,1023)", ""};
  }
  return dtype_bytes(tensor.dtype) == 1 ? Draw{"normal", ""} : draw_by_name(problem, tensor);
}

bool narrow(const Definition& definition) {
  const auto is_narrow = [](const DefinitionTensor& tensor) {
    return !tensor.is_scalar && is_float(tensor.dtype) && facts_of(tensor.dtype).largest < 1e6;
  };
  return std::ranges::any_of(definition.inputs, is_narrow) || std::ranges::any_of(definition.outputs, is_narrow);
}

std::int64_t output_elements(const ImportedProblem& problem, const Axes& axes) {
  std::int64_t count = 0;
  for (const DefinitionTensor& tensor : problem.definition.outputs) {
    std::int64_t own = 1;
    for (const std::int64_t extent : extents_of(problem, tensor, axes)) {
      own *= extent;
    }
    count += own;
  }
  return count;
}

// The two smallest workloads are those that every candidate is checked on, with shapes that are drawn near them;
// recorded values rule such shapes out.
WorkloadKind kind_of(const ImportedProblem& problem, const ImportedWorkload& workload) {
  const std::int64_t own = output_elements(problem, workload.axes);
  const auto smaller = std::ranges::count_if(problem.workloads, [&](const ImportedWorkload& other) {
    const std::int64_t elements = output_elements(problem, other.axes);
    return elements < own || (elements == own && other.name < workload.name);
  });
  const bool is_checked = smaller < 2 && smaller + 1 < std::ssize(problem.workloads) && problem.recorded.empty();
  return !is_checked ? WorkloadKind::production : smaller == 0 ? WorkloadKind::small : WorkloadKind::ragged;
}

std::string tensor_lines(const ImportedProblem& problem) {
  std::string text;
  for (const DefinitionTensor& tensor : problem.definition.inputs) {
    const WorkloadInput& input = problem.workloads.front().source.inputs.at(tensor.name);
    text += tensor.is_scalar
                ? fmt::format("// apo:scalar     {} {} {}\n", tensor.name, to_string(tensor.dtype), input.value)
                : fmt::format("// apo:input      {} {}{} {}\n", tensor.name, to_string(tensor.dtype),
                              shape_text(problem, tensor), draw_of(problem, tensor).distribution);
  }
  for (const DefinitionTensor& tensor : problem.definition.outputs) {
    text +=
        fmt::format("// apo:output     {} {}{}\n", tensor.name, to_string(tensor.dtype), shape_text(problem, tensor));
  }
  return text;
}

std::string workload_lines(const ImportedProblem& problem) {
  std::string text;
  for (const ImportedWorkload& workload : problem.workloads) {
    text += fmt::format("// apo:workload   {} {} {}\n// apo:origin     {} {}\n", workload.name,
                        to_string(kind_of(problem, workload)), axes_text(problem, workload.axes, " "), workload.name,
                        workload.source.uuid);
  }
  return text;
}

// The tightest of the workloads.
FileTolerance their_tolerance(const ImportedProblem& problem) {
  FileTolerance theirs = problem.workloads.front().source.tolerance;
  for (const ImportedWorkload& workload : problem.workloads) {
    theirs.relative = std::min(theirs.relative, workload.source.tolerance.relative);
    theirs.absolute = std::min(theirs.absolute, workload.source.tolerance.absolute);
  }
  return theirs;
}

std::string family_file(const ImportedProblem& problem, const std::string& python, const ImportedPrecision& precision) {
  const Definition& definition = problem.definition;
  const std::string idea = join(split_words(definition.meaning), " ");
  std::string text = fmt::format("// apo:family     {}\n// apo:idea       {}\n// apo:origin     {}\n", problem.family,
                                 idea.empty() ? "Imported from " + definition.name + "." : idea, definition.name);
  for (const AxisSpec& axis : problem.axes) {
    text += fmt::format("// apo:axis       {} {}..{}{}{}\n", axis.name, axis.min, axis.max,
                        axis.specialised ? " specialised" : "", axis.meaning.empty() ? "" : " " + axis.meaning);
  }
  text += tensor_lines(problem);
  text += problem.legal.empty() ? "" : fmt::format("// apo:requires   {}\n", problem.legal);
  text += narrow(definition) ? "// apo:regimes    typical near_zero\n" : "";
  text += fmt::format("// apo:reference  {} {}_reference.py {}_definition.py{}\n", python, problem.family,
                      problem.family, problem.recorded.empty() ? "" : " " + problem.family + "_recorded.safetensors");
  const bool own_dtypes_only = precision.widest == ReferencePrecision::declared;
  text += fmt::format("// apo:precision  {} {}\n", to_string(precision.widest), to_string(precision.honest));
  const FileTolerance theirs = their_tolerance(problem);
  text += fmt::format("// {}rtol={} atol={}{}\n",
                      own_dtypes_only ? "apo:tolerance  " : "The definition's own tolerance: ", theirs.relative,
                      theirs.absolute, own_dtypes_only ? "" : ". The one here is derived from the reference.");
  return text + workload_lines(problem);
}

std::string python_list(const std::vector<std::string>& names) {
  return names.empty() ? "[]" : "[\"" + join(names, "\", \"") + "\"]";
}

std::string python_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? std::string(" ") : std::string(1, c);
  }
  return quoted + "\"";
}

std::string adapter(const ImportedProblem& problem) {
  const Definition& definition = problem.definition;
  std::vector<std::string> inputs, outputs, scalars, drawn, axes, expressions;
  for (const DefinitionTensor& tensor : definition.inputs) {
    inputs.push_back(tensor.name);
    if (tensor.is_scalar) {
      const char* type = is_float(tensor.dtype) ? "float" : tensor.dtype == DType::boolean ? "bool" : "int";
      scalars.push_back(fmt::format("\"{}\": {}", tensor.name, type));
    } else if (const Draw draw = draw_of(problem, tensor); !draw.rule.empty()) {
      drawn.push_back(fmt::format("\"{}\": \"{}\"", tensor.name, draw.rule));
    }
  }
  for (const DefinitionTensor& tensor : definition.outputs) {
    outputs.push_back(tensor.name);
  }
  for (const DefinitionAxis& axis : definition.axes) {
    if (axis.role == AxisRole::computed) {
      expressions.push_back(fmt::format("\"{}\": {}", axis.name, python_text(axis.expression)));
    } else {
      axes.push_back(axis.name);
    }
  }
  const FileTolerance theirs = their_tolerance(problem);
  return fmt::format(
             "# {0}_reference.py - calls run() of {0}_definition.py: the reference of the family {0}.\n"
             "INPUTS = {1}  # in the order of run()\nSCALARS = {{{2}}}\nOUTPUTS = {3}\nDRAWN = {{{4}}}  # here, not by "
             "apo\nAXES = {5}\nEXPRESSIONS = {{{6}}}\nCUSTOM = {7}\n"
             "TOLERANCE = {{\"max_rtol\": {8}, \"max_atol\": {9}}}  # of the definition; for 'apo export definition'\n",
             problem.family, python_list(inputs), join(scalars, ", "), python_list(outputs), join(drawn, ", "),
             python_list(axes), join(expressions, ", "), python_text(definition.custom_inputs), theirs.relative,
             theirs.absolute) +
         kAdapterText;
}

}  // namespace

std::vector<NamedText> family_texts(const ImportedProblem& problem, const std::string& python,
                                    const ImportedPrecision& precision) {
  std::vector<NamedText> files = {
      {.path = problem.family + ".h", .contents = family_file(problem, python, precision)},
      {.path = problem.family + "_reference.py", .contents = adapter(problem)},
      {.path = problem.family + "_definition.py", .contents = problem.definition.reference}};
  if (!problem.recorded.empty()) {
    files.push_back({.path = problem.family + "_recorded.safetensors", .contents = safetensors_text(problem.recorded)});
  }
  return files;
}

}  // namespace apo
