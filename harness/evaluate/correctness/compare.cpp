// harness/evaluate/correctness/compare.cpp - applies the family's tolerance unit by unit and names the worst element.
#include "harness/evaluate/correctness/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/drawn_outputs.h"
#include "harness/evaluate/correctness/wrong_element.h"
#include "kernels/closeness.h"
#include "kernels/parallel.h"

namespace apo {
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
    unit_.runs = family_.unit_elements(axes_, tensor_.name, unit);
    unit_.actual = gathered(tensor_, output_.bytes, unit_.runs);
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
                                     format_element(expected));
    } else {
      result_.evidence = fmt::format("{} = {}, expected {}", name, format_element(actual), format_element(expected));
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

std::vector<double> gathered(const TensorSpec& tensor, std::span<const std::byte> bytes,
                             const std::vector<ElementRun>& runs) {
  std::vector<double> values;
  with_dtype(tensor.dtype, [&]<DType kDType>() {
    for (const ElementRun& run : runs) {
      const std::size_t before = values.size();
      values.resize(before + static_cast<std::size_t>(run.count));
      read_stored<kDType>(bytes.data() + run.offset * dtype_bytes(kDType), run.count, values.data() + before);
    }
  });
  return values;
}

void merge(OutputErrors& errors, const OutputErrors& others) {
  errors.max_absolute = std::max(errors.max_absolute, others.max_absolute);
  errors.max_relative = std::max(errors.max_relative, others.max_relative);
  errors.has_nan |= others.has_nan;
  errors.has_inf |= others.has_inf;
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
