// harness/loop/exchange/imported_family.cpp - chooses the workloads, then writes the files line by line.
#include "harness/loop/exchange/imported_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/families/family_file.h"
#include "harness/implement/variant/expression.h"
#include "harness/implement/variant/expression_tree.h"
#include "harness/loop/exchange/adapter_text.h"
#include "harness/loop/exchange/python_expression.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRecorded = std::size_t{256} << 20;  // bytes

// "a-b.c" becomes "a_b_c".
std::string family_name(const Definition& definition, const std::string& given) {
  std::string name = given.empty() ? definition.name : given;
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  if (!is_identifier(name) || name.size() > 64) {
    throw UserError(fmt::format("{}: the name '{}' is no identifier of at most 64 characters", definition.path, name),
                    "name the family with --name");
  }
  return name;
}

class Expressions {
 public:
  explicit Expressions(const Definition& definition) : definition_(definition) {}

  // In the language of the block; throws std::invalid_argument.
  std::string translate(const std::string& python) {
    const TranslatedExpression translated =
        translate_python(python, [this](const std::string& name) { return axis_text(name); });
    conditions.insert(conditions.end(), translated.conditions.begin(), translated.conditions.end());
    return translated.text;
  }

  std::string axis_text(const std::string& name) {
    const auto axis = std::ranges::find(definition_.axes, name, &DefinitionAxis::name);
    if (axis == definition_.axes.end()) {
      throw std::invalid_argument("'" + name + "' is no axis");
    }
    if (axis->role != AxisRole::computed) {
      return name;
    }
    if (!open_.insert(name).second) {
      throw std::invalid_argument("the axis '" + name + "' depends on itself");
    }
    const std::string text = "(" + translate(axis->expression) + ")";
    open_.erase(name);
    return text;
  }

  // A shape "[rows,(cols/2)]".
  std::string shape(const DefinitionTensor& tensor) {
    std::vector<std::string> extents;
    for (const std::string& word : tensor.shape) {
      try {
        extents.push_back(parse_int(word) ? word : axis_text(word));
      } catch (const std::invalid_argument& error) {
        throw UserError(fmt::format("{}: the axis '{}': {}", definition_.path, word, error.what()),
                        "known: + - * / // % ** parentheses and the names of axes");
      }
    }
    return "[" + join(extents, ",") + "]";
  }

  std::vector<std::string> conditions;

 private:
  const Definition& definition_;
  std::set<std::string> open_;
};

void import_constraints(ImportedProblem& problem) {
  Expressions expressions(problem.definition);
  std::vector<std::string> all;
  for (const std::string& constraint : problem.definition.constraints) {
    try {
      all.push_back("(" + expressions.translate(constraint) + ")");
    } catch (const std::invalid_argument& error) {
      problem.remarks.push_back(fmt::format("the constraint '{}' is left out: {}", constraint, error.what()));
    }
  }
  for (const auto* tensors : {&problem.definition.inputs, &problem.definition.outputs}) {
    for (const DefinitionTensor& tensor : *tensors) {
      (void)expressions.shape(tensor);
    }
  }
  for (const std::string& condition : each_once(expressions.conditions)) {
    all.push_back("(" + condition + ")");
  }
  problem.legal = join(each_once(all), " && ");
}

std::string axes_text(const ImportedProblem& problem, const Axes& axes, const std::string& separator) {
  std::vector<std::string> parts;
  for (const DefinitionAxis& axis : problem.definition.axes) {
    if (axis.role != AxisRole::computed) {
      parts.push_back(axis.name + "=" + std::to_string(axes.at(axis.name)));
    }
  }
  return join(parts, separator);
}

std::vector<std::int64_t> extents_of(const ImportedProblem& problem, const DefinitionTensor& tensor, const Axes& axes) {
  std::vector<std::int64_t> extents;
  for (const std::string& word : tensor.shape) {
    extents.push_back(evaluate(parse_int(word) ? word : Expressions(problem.definition).axis_text(word), axes));
  }
  return extents;
}

// The file lies in the folder of the problem or in one above: a data set has one folder for all of its problems.
fs::path find_recorded(const fs::path& folder, const std::string& relative) {
  for (fs::path place = fs::absolute(folder).lexically_normal(); place.has_relative_path();
       place = place.parent_path()) {
    if (fs::is_regular_file(place / relative)) {
      return place / relative;
    }
  }
  throw UserError("no file '" + relative + "'");
}

std::vector<StoredTensor> read_recorded(const ImportedProblem& problem, const ImportedWorkload& workload,
                                        const fs::path& folder) {
  std::vector<StoredTensor> read;
  for (const DefinitionTensor& tensor : problem.definition.inputs) {
    const WorkloadInput& input = workload.source.inputs.at(tensor.name);
    if (input.source != InputSource::recorded) {
      continue;
    }
    StoredTensor stored = read_safetensor(find_recorded(folder, input.path), input.key);
    if (stored.dtype != tensor.dtype || stored.shape != extents_of(problem, tensor, workload.axes)) {
      throw UserError(fmt::format("'{}' of '{}' is {}[{}], which is not what the definition says", input.key,
                                  input.path, to_string(stored.dtype), fmt::join(stored.shape, ",")));
    }
    stored.key = axes_text(problem, workload.axes, ",") + "/" + tensor.name;
    read.push_back(std::move(stored));
  }
  return read;
}

// "" when it can be one of the family's, else why not.
std::string why_left_out(const ImportedProblem& problem, const ImportedWorkload& workload) {
  for (const auto& [name, value] : workload.axes) {
    if (value < 1) {
      return fmt::format("{}={}, and extents are at least 1", name, value);
    }
  }
  if (!problem.legal.empty() && evaluate(problem.legal, workload.axes) == 0) {
    return "it does not satisfy " + problem.legal;
  }
  for (const ImportedWorkload& other : problem.workloads) {
    if (other.axes == workload.axes) {
      return "it has the sizes of " + other.name;
    }
    for (const auto& [name, input] : workload.source.inputs) {
      const WorkloadInput& same = other.source.inputs.at(name);
      if (input.source != same.source) {
        return fmt::format("its {} comes from elsewhere than that of {}", name, other.name);
      }
      if (input.value != same.value) {
        return fmt::format("its {} is {}, and a family has one value: {} as in {}", name, input.value, same.value,
                           other.name);
      }
    }
  }
  return "";
}

// The first 8 characters of each uuid, or as many as tell them apart.
std::vector<std::string> workload_names(const std::vector<DefinitionWorkload>& workloads) {
  std::vector<std::string> names;
  for (std::size_t length = 8; length <= 60; ++length) {
    names.clear();
    for (const DefinitionWorkload& workload : workloads) {
      std::string name = "w_" + workload.uuid.substr(0, length);
      std::ranges::replace_if(
          name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      names.push_back(name);
    }
    if (std::set<std::string>(names.begin(), names.end()).size() == names.size()) {
      break;
    }
  }
  return names;
}

void import_workloads(ImportedProblem& problem, const std::vector<DefinitionWorkload>& workloads,
                      const fs::path& folder) {
  const std::vector<std::string> names = workload_names(workloads);
  std::size_t recorded_bytes = 0;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    ImportedWorkload workload{.name = names[i], .axes = workloads[i].axes, .source = workloads[i]};
    for (const DefinitionAxis& axis : problem.definition.axes) {
      if (axis.role == AxisRole::fixed) {
        workload.axes[axis.name] = axis.value;
      }
    }
    std::string why = why_left_out(problem, workload);
    std::vector<StoredTensor> recorded;
    try {
      recorded = why.empty() ? read_recorded(problem, workload, folder) : recorded;
    } catch (const UserError& error) {
      why = error.what();
    }
    std::size_t bytes = recorded_bytes;
    for (const StoredTensor& tensor : recorded) {
      bytes += tensor.bytes.size();
    }
    if (why.empty() && bytes > kMostRecorded) {
      why = "its recorded values are beyond " + format_bytes(static_cast<double>(kMostRecorded));
    }
    if (!why.empty()) {
      problem.remarks.push_back(fmt::format("workload {} is left out: {}", workloads[i].uuid, why));
      continue;
    }
    recorded_bytes = bytes;
    std::ranges::move(recorded, std::back_inserter(problem.recorded));
    problem.workloads.push_back(std::move(workload));
  }
  if (problem.workloads.empty()) {
    throw UserError(problem.definition.path + ": no workload can be imported", join(problem.remarks, "\n"));
  }
}

void import_axes(ImportedProblem& problem) {
  for (const DefinitionAxis& axis : problem.definition.axes) {
    if (axis.role == AxisRole::computed) {
      continue;
    }
    AxisSpec spec{.name = axis.name, .meaning = join(split_words(axis.meaning), " ")};
    spec.specialised = axis.role == AxisRole::fixed;
    spec.min = spec.specialised ? axis.value : 1;
    for (const ImportedWorkload& workload : problem.workloads) {
      spec.max = std::max(spec.max, workload.axes.at(axis.name));
    }
    problem.axes.push_back(std::move(spec));
  }
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool ends_as(const std::string& name, std::initializer_list<std::string_view> ends) {
  const std::string base = name.substr(0, name.find_last_not_of("0123456789") + 1);
  return std::ranges::any_of(ends, [&](std::string_view end) { return base.ends_with(end); });
}

// How an input is drawn: a distribution of the block, or for `fill` how the program draws it.
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

// The smallest workload is small and the largest that is not round is ragged: shapes near these are drawn too, which
// recorded values rule out.
WorkloadKind kind_of(const ImportedProblem& problem, const ImportedWorkload& workload) {
  const auto elements = [&](const ImportedWorkload& one) {
    std::int64_t count = 0;
    for (const DefinitionTensor& tensor : problem.definition.outputs) {
      std::int64_t own = 1;
      for (const std::int64_t extent : extents_of(problem, tensor, one.axes)) {
        own *= extent;
      }
      count += own;
    }
    return count;
  };
  const auto smallest = std::ranges::min_element(problem.workloads, {}, elements);
  return problem.workloads.size() > 1 && problem.recorded.empty() && &*smallest == &workload ? WorkloadKind::small
                                                                                             : WorkloadKind::production;
}

std::string tensor_lines(const ImportedProblem& problem) {
  Expressions expressions(problem.definition);
  std::string text;
  for (const DefinitionTensor& tensor : problem.definition.inputs) {
    const WorkloadInput& input = problem.workloads.front().source.inputs.at(tensor.name);
    text += tensor.is_scalar
                ? fmt::format("// apo:scalar     {} {} {}\n", tensor.name, to_string(tensor.dtype), input.value)
                : fmt::format("// apo:input      {} {}{} {}\n", tensor.name, to_string(tensor.dtype),
                              expressions.shape(tensor), draw_of(problem, tensor).distribution);
  }
  for (const DefinitionTensor& tensor : problem.definition.outputs) {
    text += fmt::format("// apo:output     {} {}{}\n", tensor.name, to_string(tensor.dtype), expressions.shape(tensor));
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
  FileTolerance theirs = problem.workloads.front().source.tolerance;
  for (const ImportedWorkload& workload : problem.workloads) {
    theirs.relative = std::min(theirs.relative, workload.source.tolerance.relative);
    theirs.absolute = std::min(theirs.absolute, workload.source.tolerance.absolute);
  }
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
  return fmt::format(
             "# {0}_reference.py - calls run() of {0}_definition.py: the reference of the family {0}.\n"
             "INPUTS = {1}  # in the order of run()\nSCALARS = {{{2}}}\nOUTPUTS = {3}\nDRAWN = {{{4}}}  # here, not by "
             "apo\nAXES = {5}\nEXPRESSIONS = {{{6}}}\nCUSTOM = {7}\n",
             problem.family, python_list(inputs), join(scalars, ", "), python_list(outputs), join(drawn, ", "),
             python_list(axes), join(expressions, ", "), python_text(definition.custom_inputs)) +
         kAdapterText;
}

}  // namespace

ImportedProblem import_problem(const Definition& definition, const std::vector<DefinitionWorkload>& workloads,
                               const fs::path& folder, const std::string& family) {
  ImportedProblem problem{.family = family_name(definition, family), .definition = definition, .legal = ""};
  import_constraints(problem);
  try {
    import_workloads(problem, workloads, folder);
  } catch (const ExpressionError& error) {
    throw UserError(definition.path + ": " + error.what(), "mend the expressions and the axes of the workloads");
  }
  import_axes(problem);
  return problem;
}

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
