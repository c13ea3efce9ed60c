// harness/loop/contract/reference_checks.cpp - runs the reference on changed inputs, some units and under sanitizers.
#include "harness/loop/contract/reference_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/families/family_file.h"
#include "harness/implement/variant/metadata_block.h"
#include "kernels/small_shape.h"

namespace apo {
namespace {

constexpr std::size_t kMostOfCommand = 3;  // workloads of a reference in another language
constexpr double kNearlyConstant = 0.01;

// The largest typical case.
const Case& largest(const CheckedFamily& subject, const std::vector<Case>& cases) {
  return *std::ranges::max_element(cases, {}, [&](const Case& each) {
    return each.regime == "typical" ? element_count(subject.family, each.workload.axes) : -1;
  });
}

// By the command: its inputs of two draws need not go together.
bool is_drawn_with_others(const CheckedFamily& subject, const std::string& name) {
  return !is_cpp(subject) && std::ranges::find(subject.file.tensors, name, &FileTensor::name)->distribution.kind ==
                                 DistributionKind::function;
}

// What says what is drawn is no argument of a reference that lists the alternatives.
bool is_seed(const CheckedFamily& subject, const std::string& name) {
  return std::ranges::any_of(subject.family.tensors, [&](const TensorSpec& tensor) { return tensor.drawn_by == name; });
}

// Random outputs, and no others, are decided by draws.
void check_draws(const CheckedFamily& subject, const Case& each) {
  const InputSet inputs = inputs_of(subject, each, subject.seed);
  const Alternatives all = subject.family.alternatives(inputs.axes, inputs.values, {}, subject.threads);
  for (const TensorSpec& tensor : subject.family.tensors) {
    if (tensor.role != Role::output) {
      continue;
    }
    const bool is_drawn = std::ranges::any_of(all.draws.at(tensor.name), [](double draw) { return draw >= 0; });
    if (is_drawn && !tensor.random) {
      refuse(subject, tensor.name, fmt::format("output {} depends on drawn(), and no apo:random names it", tensor.name),
             "name it there: '// apo:random " + tensor.name + "'");
    }
    if (!is_drawn && tensor.random) {
      refuse(subject, tensor.name, fmt::format("apo:random names {}, which no drawn() decides", tensor.name),
             "write " + tensor.name + "[i] = drawn(p, a, b): a with the probability p, else b");
    }
  }
}

// Of a call, which draws what the contract leaves to chance, each time alike.
TensorMap outputs_of(const CheckedFamily& subject, const Axes& axes, const TensorMap& inputs) {
  const auto& call = subject.family.alternatives ? subject.family.honest : subject.family.reference;
  return call(axes, inputs, {}, subject.threads);
}

// Another draw of an input changes no output where another input decides it, as the largest element decides a maximum.
constexpr std::uint64_t kDraws = 16;

void check_inputs_matter(const CheckedFamily& subject, const Case& each) {
  InputSet inputs = inputs_of(subject, each, subject.seed);
  TensorMap expected = outputs_of(subject, inputs.axes, inputs.values);
  if (!is_cpp(subject) && outputs_of(subject, inputs.axes, inputs.values) != expected) {
    refuse(subject, "", "the reference gives other outputs when it is called again with the same inputs",
           "draw nothing in it and keep no state: what is random is an input");
  }
  std::vector<std::string> unused;
  for (const TensorSpec& tensor : subject.family.tensors) {
    if (tensor.role == Role::input && !is_drawn_with_others(subject, tensor.name) && !is_seed(subject, tensor.name)) {
      unused.push_back(tensor.name);
    }
  }
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    InputSet others = inputs_of(subject, each, subject.seed + draw);
    std::erase_if(unused, [&](const std::string& name) {
      TensorMap values = inputs.values;
      values.at(name) = others.values.at(name);
      return values == inputs.values || outputs_of(subject, inputs.axes, values) != expected;
    });
    if (unused.empty()) {
      return;
    }
    inputs = std::move(others);
    expected = outputs_of(subject, inputs.axes, inputs.values);
  }
  refuse(subject, unused.front(), "no output depends on input " + unused.front(),
         "use it in the reference, or remove its line");
}

void check_varies_along_each_extent(const CheckedFamily& subject, const TensorSpec& tensor,
                                    const std::vector<double>& values, const Case& each) {
  const std::vector<std::int64_t> extents = tensor.shape(each.workload.axes);
  std::size_t inner = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    const auto extent = static_cast<std::size_t>(extents[i]);
    bool varies = extent < 2;
    for (std::size_t e = inner; e < values.size() && !varies; ++e) {
      varies = e / inner % extent != 0 && values[e] != values[e - inner];
    }
    if (!varies) {
      refuse(subject, tensor.name,
             fmt::format("output {} does not vary along extent {} of {}", tensor.name, i + 1, tensor.shape_text),
             "a kernel that repeats one part would pass: draw inputs that make it vary, or leave the extent out");
    }
    inner *= extent;
  }
}

// Rounded to the output's dtype, nearly all of it may be 0 or 1, of many values. An operation that writes most places
// alike by its contract, such as a scatter, does so before the rounding too, and a sum over all has one place.
void check_format_keeps(const CheckedFamily& subject, const TensorSpec& tensor, const std::vector<double>& values) {
  constexpr double kMost = 0.9;
  std::map<double, std::int64_t> counts;
  std::map<double, std::int64_t> exact;
  for (const double value : values) {
    ++counts[round_to(tensor.dtype, value)];
    ++exact[value];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  const std::int64_t before = exact.contains(most->first) ? exact.at(most->first) : 0;
  const auto different = std::ranges::count_if(
      exact, [&](const auto& entry) { return round_to(tensor.dtype, entry.first) == most->first; });
  if (static_cast<double>(most->second) > kMost * static_cast<double>(values.size()) && different > 1) {
    refuse(
        subject, tensor.name,
        fmt::format("{} of {} elements of output {} are {} in {}, {} of them by rounding", most->second, values.size(),
                    tensor.name, format_g(most->first), to_string(tensor.dtype), most->second - before),
        "a kernel that writes this value would nearly pass: draw inputs that leave more of the output, shorten it, or "
        "use a wider dtype");
  }
}

void check_outputs_vary(const CheckedFamily& subject, const Case& each) {
  const InputSet inputs = inputs_of(subject, each, subject.seed);
  const TensorMap expected = outputs_of(subject, inputs.axes, inputs.values);
  for (const TensorSpec& tensor : subject.family.tensors) {
    if (tensor.role != Role::output || expected.at(tensor.name).empty()) {
      continue;
    }
    const std::vector<double>& values = expected.at(tensor.name);
    const auto [low, high] = std::ranges::minmax(values);
    if (values.size() > 1 && high - low <= kNearlyConstant * std::max(std::fabs(low), std::fabs(high))) {
      refuse(subject, tensor.name, fmt::format("all of output {} is within 1 % of {}", tensor.name, format_g(low)),
             "a kernel that writes a constant would nearly pass: draw inputs that make it vary");
    }
    check_format_keeps(subject, tensor, values);
    check_varies_along_each_extent(subject, tensor, values, each);
  }
}

// An element that is not the same, to rounding, when the work falls into other units.
struct UnitDifference {
  std::string tensor;
  std::size_t element = 0;
  double own = 0;  // in the units of the family under check
  double other = 0;
};

// `own` is what the family under check makes of the inputs.
std::optional<UnitDifference> difference_in_units(const CheckedFamily& subject, const InputSet& inputs,
                                                  const TensorMap& own, const std::vector<FileUnitAxis>& units) {
  FamilyFile file = subject.file;
  file.units = units;
  const TensorMap others = family_of(file, subject.options).reference(inputs.axes, inputs.values, {}, subject.threads);
  for (const auto& [name, values] : own) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double other = others.at(name)[i];
      if (std::fabs(values[i] - other) > 1e-12 * std::max(std::fabs(other), 1.0)) {
        return UnitDifference{.tensor = name, .element = i, .own = values[i], .other = other};
      }
    }
  }
  return std::nullopt;
}

// A unit computed alone gives what it gives among the others.
void check_units(const CheckedFamily& subject, const Case& each) {
  const InputSet inputs = inputs_of(subject, each, subject.seed);
  const TensorMap alone = subject.family.reference(inputs.axes, inputs.values, {}, subject.threads);
  if (const auto found = difference_in_units(subject, inputs, alone, {})) {
    refuse(subject, found->tensor,
           fmt::format("{} is {} when its unit is computed alone, and {} together with the others",
                       element_name(*find_tensor(subject.family, found->tensor), inputs.axes,
                                    static_cast<std::int64_t>(found->element)),
                       format_g(found->own, 6), format_g(found->other, 6)),
           "apo:unit names axes along which the work falls into independent parts: change it, or leave it out");
  }
}

bool fits(FamilyFile file, const std::vector<FileUnitAxis>& units) {
  file.units = units;
  try {
    check_family_file(file);
  } catch (const UserError&) {
    return false;
  }
  return true;
}

bool has_extent(const FileTensor& tensor, const std::string& axis) {
  return std::ranges::find(tensor.extents, axis) != tensor.extents.end();
}

double blocks_of(const FileUnitAxis& unit, const Axes& axes) {
  return static_cast<double>(axes.at(unit.axis)) / static_cast<double>(unit.block);
}

// The elements of one unit, without those of tensors that all units share.
double elements_of_unit(const CheckedFamily& subject, const std::vector<FileUnitAxis>& units, const Axes& axes,
                        bool outputs_alone) {
  double elements = 0;
  for (std::size_t t = 0; t < subject.file.tensors.size(); ++t) {
    const FileTensor& tensor = subject.file.tensors[t];
    double parts = 1;
    for (const FileUnitAxis& unit : units) {
      parts *= has_extent(tensor, unit.axis) ? blocks_of(unit, axes) : 1;
    }
    const bool counts = parts > 1 && (!outputs_alone || tensor.role == Role::output);
    elements += counts ? static_cast<double>(element_count(subject.family.tensors[t], axes)) / parts : 0;
  }
  return elements;
}

// The units in blocks of the innermost axis of the largest output, where they fall apart along that one: a check
// computes few units, and these are to have many outputs, or much work for each. An axis that is one block is left out.
std::vector<FileUnitAxis> with_blocks(const CheckedFamily& subject, std::vector<FileUnitAxis> units) {
  constexpr double kOutputs = 4096;
  constexpr double kElements = 0x1p20;
  constexpr double kOperations = 0x1p18;
  const Axes& axes = std::ranges::max_element(subject.family.workloads, {}, [&](const Workload& workload) {
                       return element_count(subject.family, workload.axes);
                     })->axes;
  const FileTensor* output = &subject.file.tensors.back();
  for (std::size_t t = 0; t < subject.file.tensors.size(); ++t) {
    const FileTensor& other = subject.file.tensors[t];
    const bool is_larger = element_count(subject.family.tensors[t], axes) >
                           element_count(*find_output(subject.family, output->name), axes);
    output = other.role == Role::output && is_larger ? &other : output;
  }
  const auto innermost = std::ranges::find_if(
      units, [&](const FileUnitAxis& unit) { return !output->extents.empty() && output->extents.back() == unit.axis; });
  if (innermost == units.end()) {
    return units;
  }
  std::rotate(innermost, innermost + 1, units.end());
  const Work work = subject.family.work(axes);
  const auto has_little_work = [&](const std::vector<FileUnitAxis>& some) {
    double count = 1;
    for (const FileUnitAxis& unit : some) {
      count *= blocks_of(unit, axes);
    }
    return (work.flops + work.special_functions) / count < kOperations;
  };
  const auto is_small = [&] {
    return elements_of_unit(subject, units, axes, true) < kOutputs &&
           elements_of_unit(subject, units, axes, false) < kElements && has_little_work(units);
  };
  // A table that all units would share otherwise: to cut it takes longer than what is saved.
  const std::vector<FileUnitAxis> outer(units.begin(), units.end() - 1);
  if (!outer.empty() && has_little_work(outer) &&
      elements_of_unit(subject, outer, axes, false) < elements_of_unit(subject, units, axes, false)) {
    units = outer;
  }
  while (!units.empty() && is_small()) {
    units.back().block *= 2;
    if (units.back().block >= axes.at(units.back().axis)) {
      units.pop_back();
    }
  }
  return units;
}

// A reference that indexes an axis by what it reads may crash where that axis is cut.
bool is_independent(const CheckedFamily& subject, const InputSet& inputs, const TensorMap& whole,
                    const std::vector<FileUnitAxis>& units) {
  try {
    return !difference_in_units(subject, inputs, whole, units);
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

bool is_cpp(const CheckedFamily& subject) {
  return subject.file.reference_command.empty();
}

void refuse(const CheckedFamily& subject, const std::string& tensor, const std::string& what, const std::string& hint) {
  const auto found = std::ranges::find(subject.file.tensors, tensor, &FileTensor::name);
  block_error(subject.file.path, found == subject.file.tensors.end() ? 1 : found->line, what, hint);
}

InputSet inputs_of(const CheckedFamily& subject, const Case& each, std::uint64_t seed) {
  return make_inputs(subject.family, each.workload.axes, seed, each.regime, subject.threads);
}

void on_case(const Case& each, const std::function<void()>& work) {
  const std::string axes = describe_axes(each.workload.axes);
  const auto with_case = [&](const std::string& what) {
    return fmt::format("{} (workload {}, {}, regime {})", replace_all(what, " (" + axes + ")", ""),
                       each.workload_name(), axes, each.regime);
  };
  const std::string sizes = "\nsizes that the operation does not have are left out with '// apo:requires CONDITION'";
  try {
    work();
  } catch (const NothingToCompare& error) {
    const std::string regimes = each.regime == "typical"
                                    ? ""
                                    : fmt::format("leave {} out of apo:regimes (without such a line: '{}'), or ",
                                                  each.regime, regimes_line({each.regime}));
    throw NothingToCompare(with_case(error.what()), regimes + error.hint() + sizes);
  } catch (const UserError& error) {
    throw UserError(with_case(error.what()), error.hint() + sizes);
  }
}

std::vector<Case> plan_cases(const Family& family, bool is_cpp) {
  const bool all_extreme = std::ranges::all_of(
      family.workloads, [](const Workload& workload) { return workload.kind == WorkloadKind::extreme; });
  std::vector<Case> shapes;  // in the first regime
  for (const Workload& workload : family.workloads) {
    Case shape{.workload = workload, .regime = family.regimes.front()};
    if (element_count(family, workload.axes) > kSmallElements) {
      shape.workload.axes = small_shape(family, workload.axes);
    }
    shape.is_scaled = shape.workload.axes != workload.axes;
    const auto has_its_axes = [&](const Workload& other) { return other.axes == shape.workload.axes; };
    const bool is_known = std::ranges::any_of(shapes, has_its_axes, &Case::workload) ||
                          (shape.is_scaled && std::ranges::any_of(family.workloads, has_its_axes));
    if (!is_known && (all_extreme || workload.kind != WorkloadKind::extreme)) {
      shapes.push_back(std::move(shape));
    }
  }
  // The smallest first: what is wrong shows in seconds.
  std::ranges::stable_sort(shapes, {}, [&](const Case& shape) { return element_count(family, shape.workload.axes); });
  if (!is_cpp) {
    shapes.resize(std::min(shapes.size(), kMostOfCommand));
  }
  const auto is_ragged = [](const Case& shape) { return shape.workload.kind == WorkloadKind::ragged; };
  const bool any_ragged = std::ranges::any_of(shapes, is_ragged);
  const auto enough = std::ranges::find_if(shapes, [&](const Case& shape) {
    return &shape == &shapes.back() || element_count(family, shape.workload.axes) >= kElementsOfEveryRegime;
  });
  std::vector<Case> cases;
  for (const Case& shape : shapes) {
    const bool all = is_cpp && (any_ragged ? is_ragged(shape) : &shape == &*enough);
    const std::size_t second = 1 + cases.size() % std::max<std::size_t>(1, family.regimes.size() - 1);
    for (std::size_t r = 0; r < family.regimes.size(); ++r) {
      if (r == 0 || all || r == second) {
        cases.push_back(shape);
        cases.back().regime = family.regimes[r];
      }
    }
  }
  return cases;
}

void check_memory(const CheckedFamily& subject, const std::vector<Case>& cases) {
  // The smallest, and the first ragged one.
  std::vector<const Case*> chosen = {&cases.front()};
  const auto ragged = std::ranges::find_if(
      cases, [](const Case& each) { return each.workload.kind == WorkloadKind::ragged && each.regime == "typical"; });
  if (ragged != cases.end() && &*ragged != chosen.front()) {
    chosen.push_back(&*ragged);
  }
  for (const Case* each : chosen) {
    on_case(*each, [&] {
      const InputSet inputs = inputs_of(subject, *each, subject.seed);
      (void)subject.program.ask({.mode = oracle::Mode::reference,
                                 .axes = inputs.axes,
                                 .units = {},
                                 .values = &inputs.values,
                                 .threads = subject.threads},
                                ProgramKind::sanitized);
    });
  }
}

void check_reference(const CheckedFamily& subject, const std::vector<Case>& cases) {
  const Case& whole = largest(subject, cases);
  on_case(whole, [&] {
    check_inputs_matter(subject, whole);
    if (subject.family.alternatives) {
      check_draws(subject, whole);
    }
    check_outputs_vary(subject, whole);
    if (is_cpp(subject) && !subject.file.units.empty()) {
      check_units(subject, whole);
    }
  });
}

std::vector<FileUnitAxis> independent_axes(const CheckedFamily& subject, const std::vector<Case>& cases) {
  const InputSet inputs = inputs_of(subject, largest(subject, cases), subject.seed);
  const TensorMap whole = subject.family.reference(inputs.axes, inputs.values, {}, subject.threads);
  std::vector<FileUnitAxis> units;
  for (const AxisSpec& axis : subject.file.axes) {
    units.push_back({.axis = axis.name, .block = 1, .output = ""});
    if (inputs.axes.at(axis.name) < 2 || !fits(subject.file, units) || !is_independent(subject, inputs, whole, units)) {
      units.pop_back();
    }
  }
  return with_blocks(subject, units);
}

}  // namespace apo
