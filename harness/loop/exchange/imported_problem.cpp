// harness/loop/exchange/imported_problem.cpp - translates the expressions, then chooses the workloads.
#include "harness/loop/exchange/imported_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/expression/expression_tree.h"
#include "harness/core/text.h"
#include "harness/loop/exchange/python_expression.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

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

}  // namespace

std::string axes_text(const ImportedProblem& problem, const Axes& axes, const std::string& separator) {
  std::vector<std::string> parts;
  for (const DefinitionAxis& axis : problem.definition.axes) {
    if (axis.role != AxisRole::computed) {
      parts.push_back(fmt::format("{}={}", axis.name, axes.at(axis.name)));
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

std::string extent_text(const Definition& definition, const std::string& axis) {
  return Expressions(definition).axis_text(axis);
}

std::string shape_text(const ImportedProblem& problem, const DefinitionTensor& tensor) {
  return Expressions(problem.definition).shape(tensor);
}

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

}  // namespace apo
