// harness/loop/contract/reference_checks.cpp - runs the reference on changed inputs, some units and under sanitizers.
#include "harness/loop/contract/reference_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/wrong_element.h"
#include "harness/families/family_file.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {
namespace {

constexpr std::int64_t kMostUnits = 8;  // of a large workload
// Of all tensors, up to which every unit is computed: a sum over rows has few outputs of large inputs.
constexpr std::int64_t kWholeElements = 1 << 17;
// Of a reference in another language: workloads beside the smallest one, and elements of their tensors.
constexpr std::int64_t kMostOfCommand = 3;
constexpr std::int64_t kMostElementsOfCommand = 1 << 19;
constexpr double kNearlyConstant = 0.01;
constexpr int kElementsOfUnit = 4096;  // where a single element is independent

// The largest typical case that is computed whole, with `most` elements at most; nullptr without one.
const Case* largest_whole(const CheckedFamily& subject, const std::vector<Case>& cases,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto elements = [&](const Case& each) { return element_count(subject.family, each.workload->axes); };
  const Case* best = nullptr;
  for (const Case& each : cases) {
    if (each.regime == "typical" && each.units.empty() && elements(each) <= most &&
        (best == nullptr || elements(*best) < elements(each))) {
      best = &each;
    }
  }
  return best;
}

bool is_large_for_command(const Family& family, const Workload& workload) {
  const std::int64_t own = element_count(family, workload.axes);
  const auto smaller = std::ranges::count_if(
      family.workloads, [&](const Workload& other) { return element_count(family, other.axes) < own; });
  return smaller > 0 && (smaller >= kMostOfCommand || own > kMostElementsOfCommand);
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

void check_inputs_matter(const CheckedFamily& subject, const Case& each) {
  const InputSet inputs = inputs_of(subject, each, subject.seed);
  const InputSet others = inputs_of(subject, each, subject.seed + 1);
  const TensorMap expected = outputs_of(subject, inputs.axes, inputs.values);
  if (!is_cpp(subject) && outputs_of(subject, inputs.axes, inputs.values) != expected) {
    refuse(subject, "",
           fmt::format("the reference gives other outputs when it is called again with the same inputs (workload {})",
                       each.workload->name),
           "draw nothing in it and keep no state: what is random is an input");
  }
  for (const TensorSpec& tensor : subject.family.tensors) {
    TensorMap values = inputs.values;
    if (tensor.role != Role::input || is_drawn_with_others(subject, tensor.name) || is_seed(subject, tensor.name) ||
        values.at(tensor.name) == others.values.at(tensor.name)) {
      continue;
    }
    values.at(tensor.name) = others.values.at(tensor.name);
    if (outputs_of(subject, inputs.axes, values) == expected) {
      refuse(subject, tensor.name,
             fmt::format("no output depends on input {} (workload {})", tensor.name, each.workload->name),
             "use it in the reference, or remove its line");
    }
  }
}

void check_varies_along_each_extent(const CheckedFamily& subject, const TensorSpec& tensor,
                                    const std::vector<double>& values, const Case& each) {
  const std::vector<std::int64_t> extents = tensor.shape(each.workload->axes);
  std::size_t inner = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    const auto extent = static_cast<std::size_t>(extents[i]);
    bool varies = extent < 2;
    for (std::size_t e = inner; e < values.size() && !varies; ++e) {
      varies = e / inner % extent != 0 && values[e] != values[e - inner];
    }
    if (!varies) {
      refuse(subject, tensor.name,
             fmt::format("output {} does not vary along extent {} of {} (workload {})", tensor.name, i + 1,
                         tensor.shape_text, each.workload->name),
             "a kernel that repeats one part would pass: draw inputs that make it vary, or leave the extent out");
    }
    inner *= extent;
  }
}

// Rounded to the output's dtype, nearly all of it may be 0 or 1, of many values. An operation that writes most places
// alike by its contract, such as a scatter, does so before the rounding too, and a sum over all has one place.
void check_format_keeps(const CheckedFamily& subject, const TensorSpec& tensor, const std::vector<double>& values,
                        const Case& each) {
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
        fmt::format("{} of {} elements of output {} are {} in {}, {} of them by rounding (workload {})", most->second,
                    values.size(), tensor.name, format_g(most->first), to_string(tensor.dtype), most->second - before,
                    each.workload->name),
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
      refuse(subject, tensor.name,
             fmt::format("all of output {} is within 1 % of {} (workload {})", tensor.name, format_g(low),
                         each.workload->name),
             "a kernel that writes a constant would nearly pass: draw inputs that make it vary");
    }
    check_format_keeps(subject, tensor, values, each);
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
           fmt::format("{} is {} when its unit is computed alone, and {} together with the others (workload {})",
                       element_name(*find_tensor(subject.family, found->tensor), inputs.axes,
                                    static_cast<std::int64_t>(found->element)),
                       format_g(found->own, 6), format_g(found->other, 6), each.workload->name),
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

bool is_last_extent(const FamilyFile& file, const std::string& axis) {
  return std::ranges::any_of(file.tensors, [&](const FileTensor& tensor) {
    return tensor.role == Role::output && !tensor.extents.empty() && tensor.extents.back() == axis;
  });
}

// A reference that indexes an axis by what it reads may crash where that axis is cut.
bool is_independent(const CheckedFamily& subject, const InputSet& inputs, const TensorMap& whole,
                    const FileUnitAxis& unit) {
  try {
    return !difference_in_units(subject, inputs, whole, {unit});
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
  return make_inputs(subject.family, each.workload->axes, seed, each.regime, subject.threads);
}

std::vector<Case> plan_cases(const Family& family, bool is_cpp, std::uint64_t seed) {
  std::vector<Case> cases;
  for (const Workload& workload : family.workloads) {
    if ((workload.kind == WorkloadKind::extreme && family.workloads.size() > 1) ||
        (!is_cpp && is_large_for_command(family, workload))) {
      continue;
    }
    const bool whole = element_count(family, workload.axes) <= kWholeElements;
    const std::vector<std::int64_t> units =
        whole ? std::vector<std::int64_t>() : draw_units(family.unit_count(workload.axes), kMostUnits, seed);
    const bool all = is_cpp && workload.kind == WorkloadKind::ragged;
    const std::size_t second = 1 + cases.size() % std::max<std::size_t>(1, family.regimes.size() - 1);
    for (std::size_t r = 0; r < family.regimes.size(); ++r) {
      if (r == 0 || all || r == second) {
        cases.push_back({.workload = &workload, .regime = family.regimes[r], .units = units});
      }
    }
  }
  // The smallest first: what is wrong shows in seconds.
  std::ranges::stable_sort(cases, {}, [&](const Case& each) { return element_count(family, each.workload->axes); });
  return cases;
}

void check_memory(const CheckedFamily& subject) {
  // The smallest, and the first ragged one.
  std::vector<const Workload*> chosen = {&*std::ranges::min_element(
      subject.family.workloads, {},
      [&](const Workload& workload) { return element_count(subject.family, workload.axes); })};
  const auto ragged = std::ranges::find(subject.family.workloads, WorkloadKind::ragged, &Workload::kind);
  if (ragged != subject.family.workloads.end() && &*ragged != chosen.front()) {
    chosen.push_back(&*ragged);
  }
  for (const Workload* workload : chosen) {
    const InputSet inputs = make_inputs(subject.family, workload->axes, subject.seed, "typical", subject.threads);
    const auto units = draw_units(subject.family.unit_count(workload->axes), 2 * kMostUnits, subject.seed);
    (void)subject.program.ask({.mode = oracle::Mode::reference,
                               .axes = workload->axes,
                               .units = units,
                               .values = &inputs.values,
                               .threads = subject.threads},
                              ProgramKind::sanitized);
  }
}

void check_reference(const CheckedFamily& subject, const std::vector<Case>& cases) {
  const Case* whole = largest_whole(subject, cases);
  if (whole == nullptr) {
    refuse(subject, "", "no workload is small enough to check all of it",
           "add a small and a ragged one, e.g. '// apo:workload tiny ragged ...'");
  }
  check_inputs_matter(subject, *whole);
  if (subject.family.alternatives) {
    check_draws(subject, *whole);
  }
  check_outputs_vary(subject, *whole);
  if (is_cpp(subject) && !subject.file.units.empty()) {
    check_units(subject, *whole);
  }
}

std::vector<FileUnitAxis> independent_axes(const CheckedFamily& subject, const std::vector<Case>& cases) {
  const Case* small = largest_whole(subject, cases, kWholeElements);
  if (small == nullptr) {
    return {};
  }
  const InputSet inputs = inputs_of(subject, *small, subject.seed);
  const TensorMap whole = subject.family.reference(inputs.axes, inputs.values, {}, subject.threads);
  std::vector<FileUnitAxis> outer, last;
  for (const AxisSpec& axis : subject.file.axes) {
    const FileUnitAxis unit = {.axis = axis.name, .block = 1, .output = ""};
    if (inputs.axes.at(axis.name) > 1 && fits(subject.file, {unit}) && is_independent(subject, inputs, whole, unit)) {
      (is_last_extent(subject.file, axis.name) ? last : outer).push_back(unit);
    }
  }
  if (outer.empty() && !last.empty()) {
    last.front().block = kElementsOfUnit;
    return {last.front()};
  }
  return outer;
}

bool has_large_case(const Family& family, const std::vector<Case>& cases) {
  return std::ranges::any_of(
      cases, [&](const Case& each) { return element_count(family, each.workload->axes) > kWholeElements; });
}

}  // namespace apo
