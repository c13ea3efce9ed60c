// harness/evaluate/correctness/compare.cpp - applies the family's tolerance unit by unit and names the worst element.
#include "harness/evaluate/correctness/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/drawn_outputs.h"
#include "kernels/closeness.h"
#include "kernels/parallel.h"

namespace apo {
namespace {

// "B", "T" of "[B,T]". Empty where the text does not name each axis of the shape once: then none can be matched.
std::vector<std::string> named_axes(const TensorSpec& tensor, std::size_t rank) {
  std::string text = tensor.shape_text;
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::vector<std::string> names = text.empty() ? std::vector<std::string>() : split(text, ',');
  const bool distinct = std::set(names.begin(), names.end()).size() == names.size();
  return names.size() == rank && distinct ? names : std::vector<std::string>();
}

// From the bytes, which every input set keeps.
double value_at(const TensorSpec& tensor, const InputSet& inputs, std::int64_t element) {
  const auto width = static_cast<std::size_t>(dtype_bytes(tensor.dtype));
  const std::span<const std::byte> bytes(inputs.bytes.at(tensor.name));
  return decode(tensor.dtype, bytes.subspan(static_cast<std::size_t>(element) * width, width)).front();
}

// Returns `input` at the same indices; nullopt if it has an axis that the element lacks.
std::optional<InputValue> input_at(const TensorSpec& input, const WrongElement& wrong, const InputSet& inputs) {
  const std::vector<std::int64_t> whole = input.shape(inputs.axes);
  const std::vector<std::int64_t> drawn = input.shape(inputs.drawn_axes);
  const std::vector<std::string> names = named_axes(input, whole.size());
  if (names.size() != whole.size()) {
    return std::nullopt;
  }
  InputValue there{.tensor = input.name};
  std::int64_t element = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto axis = std::ranges::find(wrong.axes, names[i]);
    const std::int64_t at =
        axis == wrong.axes.end() ? whole[i] : wrong.index[static_cast<std::size_t>(axis - wrong.axes.begin())];
    if (at >= whole[i]) {
      return std::nullopt;
    }
    there.index.push_back(at);
    element = element * drawn[i] + at % drawn[i];  // entries that were not drawn repeat those that were
  }
  there.value = value_at(input, inputs, element);
  return there;
}

}  // namespace

std::vector<std::int64_t> indices_of(const TensorSpec& tensor, const Axes& axes, std::int64_t element) {
  std::vector<std::int64_t> indices = tensor.shape(axes);
  for (std::size_t i = indices.size(); i-- > 0;) {
    const std::int64_t extent = indices[i];
    indices[i] = element % extent;
    element /= extent;
  }
  return indices;
}

namespace {

bool is_number(const std::string& axis) {
  return std::ranges::all_of(axis, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

WrongElement wrong_element(const TensorSpec& tensor, const Axes& axes, std::int64_t element) {
  WrongElement wrong{.tensor = tensor.name, .index = indices_of(tensor, axes, element)};
  wrong.axes = named_axes(tensor, wrong.index.size());
  for (std::size_t i = wrong.axes.size(); i < wrong.index.size(); ++i) {
    wrong.axes.push_back(fmt::format("axis {}", i));
  }
  return wrong;
}

void add_inputs(WrongElement& wrong, const Family& family, const InputSet& inputs) {
  wrong.seed = inputs.seed;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output) {
      if (auto there = input_at(tensor, wrong, inputs)) {
        wrong.inputs.push_back(std::move(*there));
      }
    }
  }
}

std::string sentence(const WrongElement& wrong) {
  std::vector<std::string> place;
  for (std::size_t i = 0; i < wrong.index.size(); ++i) {
    if (!is_number(wrong.axes[i])) {  // an extent without a name, mostly 1
      place.push_back(fmt::format("{}={}", wrong.axes[i], wrong.index[i]));
    }
  }
  std::vector<std::string> values;
  for (const InputValue& input : wrong.inputs) {
    values.push_back(fmt::format("{} = {}", input.tensor, format_g(input.value, 6)));
  }
  return fmt::format("{}its bound is {}{}{}", place.empty() ? "" : "at " + join(place, " ") + " ",
                     format_g(wrong.bound, 3), values.empty() ? "" : "; inputs there: " + join(values, ", "),
                     wrong.seed == 0 ? "" : fmt::format("; drawn from seed {}", wrong.seed));
}

namespace {

// Of a call's outputs, or of the witness's.
std::optional<Failure> wrong_outputs(const Family& family, const Axes& axes, const Expected& expected,
                                     const OutputViews& outputs, int threads, CallFindings& findings,
                                     Units units = Units::drawn) {
  Comparison comparison = compare_outputs(family, axes, expected, outputs, threads, units);
  if (units == Units::drawn) {
    findings.draws = std::move(comparison.draws);
  }
  for (const TensorComparison& tensor : comparison.tensors) {
    merge(findings.errors, tensor.errors);
    findings.elements += tensor.compared;
    findings.wrong = findings.wrong ? findings.wrong : tensor.wrong;
  }
  if (!comparison.correct && guard_is_on(Guard::reference)) {
    return Failure{.outcome = Outcome::incorrect, .evidence = comparison.evidence};
  }
  return std::nullopt;
}

std::int64_t output_elements(const Family& family, const Axes& axes) {
  std::int64_t elements = 0;
  for (const TensorSpec& tensor : family.tensors) {
    elements += tensor.role == Role::output ? element_count(tensor, axes) : 0;
  }
  return elements;
}

// The furthest apart, ascending: 2^20 elements, but 32 units at least and 512 at most.
std::vector<std::int64_t> units_to_decide(const Family& family, const Axes& axes,
                                          const std::vector<DoubtfulUnit>& doubtful) {
  constexpr std::int64_t kElements = std::int64_t{1} << 20;
  constexpr std::int64_t kFewest = 32;
  constexpr std::int64_t kMost = 512;
  const std::int64_t of_unit = std::max<std::int64_t>(1, element_count(family, axes) / family.unit_count(axes));
  const std::int64_t most = std::clamp(kElements / of_unit, kFewest, kMost);
  std::vector<std::int64_t> units;
  for (std::int64_t i = 0; i < std::min(std::ssize(doubtful), most); ++i) {
    units.push_back(doubtful[static_cast<std::size_t>(i)].unit);
  }
  std::ranges::sort(units);
  return units;
}

}  // namespace

std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family,
                                    const CheckedInputs& inputs, const std::string& whose, std::optional<int> set,
                                    int threads, CallFindings* findings) {
  if (const auto damage = guard_is_on(Guard::guard_zones) ? shared_tensors.check_guards() : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = damage->sentence()};
  }
  if (const auto change = set && guard_is_on(Guard::inputs) ? shared_tensors.check_inputs(set) : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = change->sentence()};
  }
  CallFindings own;
  CallFindings& found = findings != nullptr ? *findings : own;
  const Expected& expected = inputs.expected();
  if (auto wrong =
          wrong_outputs(family, inputs.inputs.axes, expected, view_outputs(shared_tensors, family), threads, found)) {
    return wrong;
  }
  return expected.units.empty() ? std::nullopt
                                : hold_all(shared_tensors, family, inputs, whose, inputs.typical(), threads, found);
}

std::optional<int> wrong_slot(const CallFindings& findings, int slot, const std::string& other_slots) {
  if (findings.wrong_call_of.empty()) {
    return slot;
  }
  return findings.wrong_call_of == other_slots ? std::optional(1 - slot) : std::nullopt;
}

std::optional<Failure> hold_all(const SharedTensors& shared_tensors, const Family& family, const CheckedInputs& inputs,
                                const std::string& whose, const TypicalErrors& typical, int threads,
                                CallFindings& findings) {
  constexpr std::int64_t kPartOfMemory = 16;  // that the tensors of a call may have, for its outputs to be kept
  const Axes& axes = inputs.inputs.axes;
  const std::shared_ptr<Witness> witness = inputs.witness();
  const OutputViews outputs = view_outputs(shared_tensors, family);
  std::vector<DoubtfulUnit> doubtful;
  if (witness != nullptr || guard_is_on(Guard::poison)) {
    doubtful =
        doubtful_units(family, axes, typical, outputs, witness != nullptr ? &witness->outputs : nullptr, threads);
  }
  if (!doubtful.empty() && guard_is_on(Guard::reference)) {
    const std::vector<std::int64_t> units = units_to_decide(family, axes, doubtful);
    const std::shared_ptr<const Expected> decided = inputs.expected_of(units);
    if (auto wrong = wrong_outputs(family, axes, *decided, outputs, threads, findings, Units::in_doubt)) {
      return wrong;
    }
    CallFindings of_witness;
    const bool was_called = witness != nullptr && witness->of != kWholeReference;
    if (auto wrong = was_called
                         ? wrong_outputs(family, axes, *decided, witness->outputs, threads, of_witness, Units::in_doubt)
                         : std::nullopt) {
      inputs.set_witness(nullptr);
      findings.wrong_call_of = witness->of;
      return wrong;
    }
    findings.undecided += std::ssize(doubtful) - std::ssize(units);
  }
  if (witness == nullptr) {
    if (tensor_bytes(family, axes) <= physical_memory_bytes() / kPartOfMemory) {
      inputs.set_witness(std::make_shared<Witness>(whose, read_outputs(shared_tensors, family)));
    }
    return std::nullopt;
  }
  findings.elements = output_elements(family, axes);
  if (witness->of != whose) {
    witness->confirmed = true;
  }
  return std::nullopt;
}

namespace {

// The elements of one unit, in the order of unit_elements.
struct UnitElements {
  std::vector<ElementRun> runs;
  std::span<const double> expected;
  std::span<const double> noise;
  std::vector<double> actual;
};

// Some units of an output in a row.
struct Part {
  const TensorSpec* tensor = nullptr;
  std::vector<std::int64_t> units;
  std::size_t first = 0;  // of their elements in the reference, which has those of compared units alone
};

// The findings of a part, with its sums for the tensor's relative error.
struct PartComparison {
  TensorComparison found;
  double error_square = 0;
  double reference_square = 0;
};

class PartComparer {
 public:
  PartComparer(const Family& family, const Axes& axes, const Part& part, const Expected& expected,
               const OutputView& output)
      : family_(family),
        axes_(axes),
        tensor_(*part.tensor),
        tolerance_(family.tolerance(tensor_.name, axes)),
        reference_(expected.reference.at(tensor_.name)),
        noise_(expected.noise.at(tensor_.name)),
        output_(output),
        next_(part.first) {}

  PartComparison run(const std::vector<std::int64_t>& units) {
    for (const std::int64_t unit : units) {
      compare_unit(unit);
    }
    return {.found = std::move(result_), .error_square = error_square_, .reference_square = reference_square_};
  }

 private:
  void gather(std::int64_t unit) {
    const auto width = static_cast<std::size_t>(dtype_bytes(tensor_.dtype));
    unit_.runs = family_.unit_elements(axes_, tensor_.name, unit);
    gathered_.clear();
    for (const ElementRun& run : unit_.runs) {
      const auto of_run = output_.bytes.subspan(static_cast<std::size_t>(run.offset) * width,
                                                static_cast<std::size_t>(run.count) * width);
      gathered_.insert(gathered_.end(), of_run.begin(), of_run.end());
    }
    unit_.actual = decode(tensor_.dtype, gathered_);
    APO_CHECK(next_ + unit_.actual.size() <= std::min(reference_.size(), noise_.size()));
    unit_.expected = reference_.subspan(next_, unit_.actual.size());
    unit_.noise = noise_.subspan(next_, unit_.actual.size());
    next_ += unit_.actual.size();
  }

  // The place in the tensor of element `at` of the unit.
  std::int64_t index_of(std::size_t at) const {
    auto left = static_cast<std::int64_t>(at);
    for (const ElementRun& run : unit_.runs) {
      if (left < run.count) {
        return run.offset + left;
      }
      left -= run.count;
    }
    throw std::logic_error("the unit has fewer elements");
  }

  void compare_unit(std::int64_t unit) {
    gather(unit);
    for (std::size_t i = 0; i < unit_.actual.size(); ++i) {
      if (std::isfinite(unit_.expected[i])) {
        const double error = unit_.actual[i] - unit_.expected[i];
        error_square_ += error * error;
        reference_square_ += unit_.expected[i] * unit_.expected[i];
        note_error(unit_.actual[i], unit_.expected[i]);
      }
    }
    result_.compared += std::ssize(unit_.actual);
    const Closeness close = closeness(tolerance_, unit_.expected, unit_.noise, unit_.actual);
    result_.closeness = std::max({result_.closeness, close.element, close.rms});
    if (!close.holds()) {
      if (result_.wrong_units == 0) {
        explain(close, unit);
      }
      ++result_.wrong_units;
    }
  }

  void note_error(double actual, double expected) {
    constexpr double kSmallReference = 1e-2;
    OutputErrors& errors = result_.errors;
    if (!std::isfinite(actual)) {
      ++result_.non_finite;
      errors.has_nan |= std::isnan(actual);
      errors.has_inf |= std::isinf(actual);
      return;
    }
    const double error = std::fabs(actual - expected);
    errors.max_absolute = std::max(errors.max_absolute, error);
    errors.max_relative = std::max(errors.max_relative, error / std::max(std::fabs(expected), kSmallReference));
  }

  // Returns the first element out of bounds; if only the unit as a whole is, the worst element.
  void explain(const Closeness& close, std::int64_t unit) {
    const std::vector<double> scales = error_scales(tolerance_, unit_.noise);
    auto at = static_cast<std::size_t>(close.worst_element);
    for (std::size_t i = 0; i < at && close.element > 1; ++i) {
      at = element_closeness(tolerance_, unit_.expected[i], scales[i], unit_.actual[i]) > 1 ? i : at;
    }
    const double expected = unit_.expected[at];
    const double actual = unit_.actual[at];
    const std::string name = element_name(tensor_, axes_, index_of(at));
    if (output_.is_unwritten(tensor_.dtype, index_of(at))) {
      result_.evidence = fmt::format("{} was never written, or made of what was not written; expected {}", name,
                                     format_g(expected, 6));
    } else {
      result_.evidence = fmt::format("{} = {}, expected {}", name, format_g(actual, 6), format_g(expected, 6));
      result_.evidence += close.element <= 1
                              ? fmt::format("; no single element is out of bounds, but unit {} as a whole is {}", unit,
                                            std::isfinite(close.rms) ? format_g(close.rms, 3) + "x its RMS bound"
                                                                     : "beyond its RMS bound of zero")
                              : " (" + excess(expected, scales[at], actual) + ")";
    }
    result_.wrong = wrong_element(tensor_, axes_, index_of(at));
    result_.wrong->expected = expected;
    result_.wrong->got = actual;
    result_.wrong->bound = element_bound(tolerance_, expected, scales[at]);
  }

  std::string excess(double expected, double scale, double actual) const {
    const double element = element_closeness(tolerance_, expected, scale, actual);
    if (std::isfinite(element)) {
      return format_g(element, 3) + "x its bound";
    }
    if (std::isfinite(expected) && !std::isfinite(actual)) {
      return "it has to be a finite number";
    }
    return !std::isfinite(expected)       ? "the contract gives it this value"
           : !is_float(tensor_.dtype)     ? "it has to be equal"
           : expected == 0 && actual == 0 ? "the contract tells 0 from -0"
                                          : "it has to be exact but for its rounding";
  }

  const Family& family_;
  const Axes& axes_;
  const TensorSpec& tensor_;
  Tolerance tolerance_;
  std::span<const double> reference_;
  std::span<const double> noise_;
  const OutputView& output_;
  std::size_t next_;  // in reference_ and noise_
  std::vector<std::byte> gathered_;
  UnitElements unit_;
  TensorComparison result_;
  double error_square_ = 0;
  double reference_square_ = 0;
};

// Merges parts in the order of their units; the first wrong one is reported.
TensorComparison sum_of(const std::string& tensor, std::span<PartComparison> parts) {
  TensorComparison sum{.tensor = tensor, .evidence = tensor + " is right"};
  double error_square = 0;
  double reference_square = 0;
  for (PartComparison& part : parts) {
    if (sum.wrong_units == 0 && part.found.wrong_units > 0) {
      sum.evidence = std::move(part.found.evidence);
      sum.wrong = std::move(part.found.wrong);
    }
    sum.compared += part.found.compared;
    sum.non_finite += part.found.non_finite;
    sum.wrong_units += part.found.wrong_units;
    sum.closeness = std::max(sum.closeness, part.found.closeness);
    merge(sum.errors, part.found.errors);
    error_square += part.error_square;
    reference_square += part.reference_square;
  }
  sum.correct = sum.wrong_units == 0;
  sum.relative_error = reference_square > 0 ? std::sqrt(error_square / reference_square) : 0;
  return sum;
}

// Enough parts for as many threads, of whole units.
std::vector<Part> parts_of(const Family& family, const Axes& axes, const TensorSpec& tensor,
                           const std::vector<std::int64_t>& units, int threads) {
  const std::int64_t count = units.empty() ? family.unit_count(axes) : std::ssize(units);
  const std::int64_t of_part = (count + std::max(1, threads) - 1) / std::max(1, threads);
  std::vector<Part> parts;
  std::size_t first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % of_part == 0) {
      parts.push_back({.tensor = &tensor, .units = {}, .first = first});
    }
    parts.back().units.push_back(units.empty() ? i : units[static_cast<std::size_t>(i)]);
    for (const ElementRun& run : family.unit_elements(axes, tensor.name, parts.back().units.back())) {
      first += static_cast<std::size_t>(run.count);
    }
  }
  return parts;
}

std::string summary(const std::vector<TensorComparison>& tensors) {
  std::int64_t compared = 0;
  double worst = 0;
  double closest = 0;
  for (const TensorComparison& tensor : tensors) {
    compared += tensor.compared;
    worst = std::max(worst, tensor.relative_error);
    closest = std::max(closest, tensor.closeness);
  }
  return fmt::format("{} elements right, at most {} of the tolerance, largest relative error of a tensor {}", compared,
                     format_g(closest, 2), format_g(worst, 2));
}

}  // namespace

void merge(OutputErrors& errors, const OutputErrors& others) {
  errors.max_absolute = std::max(errors.max_absolute, others.max_absolute);
  errors.max_relative = std::max(errors.max_relative, others.max_relative);
  errors.has_nan |= others.has_nan;
  errors.has_inf |= others.has_inf;
}

std::string element_name(const TensorSpec& tensor, const Axes& axes, std::int64_t index) {
  std::vector<std::string> indices;
  for (const std::int64_t one : indices_of(tensor, axes, index)) {
    indices.push_back(std::to_string(one));
  }
  return tensor.name + "[" + join(indices, ",") + "]";
}

namespace {

Comparison compare_values(const Family& family, const Axes& axes, const Expected& expected, const OutputViews& outputs,
                          int threads) {
  std::vector<Part> parts;
  std::vector<std::pair<std::string, std::size_t>> written;  // each with the number of its parts
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      APO_CHECK(std::ssize(outputs.at(tensor.name).bytes) == dtype_bytes(tensor.dtype) * element_count(tensor, axes));
      std::vector<Part> of_tensor = parts_of(family, axes, tensor, expected.units, threads);
      written.emplace_back(tensor.name, of_tensor.size());
      std::ranges::move(of_tensor, std::back_inserter(parts));
    }
  }
  std::vector<std::int64_t> places(parts.size());
  std::iota(places.begin(), places.end(), std::int64_t{0});
  std::vector<PartComparison> compared(parts.size());
  for_each_unit(places, threads, [&](std::int64_t place) {
    const Part& part = parts[static_cast<std::size_t>(place)];
    compared[static_cast<std::size_t>(place)] =
        PartComparer(family, axes, part, expected, outputs.at(part.tensor->name)).run(part.units);
  });
  Comparison comparison{.correct = true, .evidence = "", .tensors = {}};
  std::span<PartComparison> left = compared;
  for (const auto& [tensor, count] : written) {
    comparison.tensors.push_back(sum_of(tensor, left.first(count)));
    left = left.subspan(count);
  }
  for (const TensorComparison& tensor : comparison.tensors) {
    if (!tensor.correct && comparison.correct) {
      comparison.correct = false;
      comparison.evidence = tensor.evidence;
    }
  }
  if (comparison.correct) {
    comparison.evidence = summary(comparison.tensors);
  }
  return comparison;
}

}  // namespace

Comparison compare_outputs(const Family& family, const Axes& axes, const Expected& expected, const OutputViews& outputs,
                           int threads, Units units) {
  if (expected.random.each.empty()) {
    return compare_values(family, axes, expected, outputs, threads);
  }
  DrawnOutputs drawn = drawn_outputs(family, axes, expected, outputs);
  Comparison comparison = compare_values(family, axes, drawn.expected, outputs, threads);
  comparison.draws = std::move(drawn.draws);
  const std::string problem = !comparison.correct     ? ""
                              : units == Units::drawn ? comparison.draws.problem()
                                                      : comparison.draws.problem_of_a_unit(family.unit_count(axes));
  if (!problem.empty()) {
    comparison.correct = false;
    comparison.evidence = problem;
    for (TensorComparison& tensor : comparison.tensors) {
      if (find_output(family, tensor.tensor)->random) {
        tensor.correct = false;
        tensor.closeness = std::numeric_limits<double>::infinity();
        tensor.evidence = problem;
      }
    }
  }
  return comparison;
}

}  // namespace apo
