// harness/evaluate/compare.cpp - element by element within a scale that an honest implementation sets, then as a whole.
#include "harness/evaluate/compare.h"

#include <cmath>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// Sums over one unit or one tensor.
struct Sums {
  double error = 0;   // (x - ref)^2
  double honest = 0;  // (honest - ref)^2
  double reference = 0;
  std::int64_t count = 0;

  void add(double value, double honest_value, double reference_value) {
    error += (value - reference_value) * (value - reference_value);
    honest += (honest_value - reference_value) * (honest_value - reference_value);
    reference += reference_value * reference_value;
    ++count;
  }
};

double root_mean(double sum, std::int64_t count) {
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

double relative(double error, double reference) {
  if (reference > 0) {
    return std::sqrt(error / reference);
  }
  return error > 0 ? INFINITY : 0;
}

std::string position(const TensorSpec& tensor, const Axes& axes, std::int64_t index) {
  const std::vector<std::int64_t> shape = tensor.shape(axes);
  std::vector<std::string> indices(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    indices[i] = std::to_string(index % shape[i]);
    index /= shape[i];
  }
  return tensor.name + "[" + join(indices, ",") + "]";
}

class TensorComparer {
 public:
  TensorComparer(const Family& family, const Axes& axes, const TensorSpec& tensor, const Expected& expected,
                 const std::vector<double>& values)
      : family_(family),
        axes_(axes),
        tensor_(tensor),
        tolerance_(family.tolerance(tensor.name, axes)),
        reference_(expected.reference.at(tensor.name)),
        honest_(expected.honest.at(tensor.name)),
        values_(values) {
    result_.tensor = tensor.name;
  }

  TensorComparison run(const std::vector<std::int64_t>& units) {
    if (units.empty()) {
      const std::int64_t count = family_.unit_count(axes_);
      for (std::int64_t unit = 0; unit < count; ++unit) {
        compare_unit(unit);
      }
    } else {
      for (const std::int64_t unit : units) {
        compare_unit(unit);
      }
    }
    conclude();
    return std::move(result_);
  }

 private:
  void compare_unit(std::int64_t unit) {
    const std::vector<ElementRun> runs = family_.unit_elements(axes_, tensor_.name, unit);
    Sums sums;
    for (const ElementRun& run : runs) {
      for (std::int64_t i = run.offset; i < run.offset + run.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        sums.add(values_[at], honest_[at], reference_[at]);
      }
    }
    const double scale =
        std::max(root_mean(sums.honest, sums.count), tolerance_.scale_floor * root_mean(sums.reference, sums.count));
    for (const ElementRun& run : runs) {
      for (std::int64_t i = run.offset; i < run.offset + run.count; ++i) {
        compare_element(i, scale);
      }
    }
    total_.error += sums.error;
    total_.honest += sums.honest;
    total_.reference += sums.reference;
    total_.count += sums.count;
  }

  void compare_element(std::int64_t index, double scale) {
    const auto at = static_cast<std::size_t>(index);
    const double error = std::fabs(values_[at] - reference_[at]);
    const double allowed = tolerance_.output_rounding * std::fabs(reference_[at]) + tolerance_.element_sigmas * scale;
    if (!std::isfinite(values_[at])) {
      ++result_.non_finite;
    }
    if (!(error <= allowed)) {  // this form also catches NaN
      ++result_.wrong;
      const double excess = std::isfinite(error) ? error / (allowed + 1e-300) : INFINITY;
      if (worst_ < 0 || excess > worst_excess_) {
        worst_ = index;
        worst_excess_ = excess;
        worst_allowed_ = allowed;
      }
    }
  }

  void conclude() {
    result_.compared = total_.count;
    result_.relative_error = relative(total_.error, total_.reference);
    result_.honest_error = relative(total_.honest, total_.reference);
    const double yardstick = std::max(result_.honest_error, tolerance_.output_rounding / std::sqrt(3.0));
    const double allowed = tolerance_.rms_factor * yardstick;
    const bool elements = result_.wrong == 0;
    const bool whole = result_.relative_error <= allowed;  // false for NaN
    result_.correct = elements && whole;
    if (!elements) {
      const auto at = static_cast<std::size_t>(worst_);
      result_.evidence = std::to_string(result_.wrong) + " of " + std::to_string(result_.compared) +
                         " elements wrong, worst " + position(tensor_, axes_, worst_) + " = " +
                         format_g(values_[at], 6) + ", expected " + format_g(reference_[at], 6) + " +- " +
                         format_g(worst_allowed_, 2);
    } else if (!whole) {
      result_.evidence = tensor_.name + ": relative error " + format_g(result_.relative_error, 3) + ", allowed " +
                         format_g(allowed, 3) + " (honest " + format_g(result_.honest_error, 3) + ")";
    } else {
      result_.evidence = tensor_.name + ": relative error " + format_g(result_.relative_error, 3) + " (honest " +
                         format_g(result_.honest_error, 3) + ")";
    }
  }

  const Family& family_;
  const Axes& axes_;
  const TensorSpec& tensor_;
  Tolerance tolerance_;
  const std::vector<double>& reference_;
  const std::vector<double>& honest_;
  const std::vector<double>& values_;
  TensorComparison result_;
  Sums total_;
  std::int64_t worst_ = -1;
  double worst_excess_ = 0;
  double worst_allowed_ = 0;
};

}  // namespace

Comparison compare_outputs(const Family& family, const Axes& axes, const Expected& expected,
                           const TensorBytes& outputs) {
  Comparison comparison{.correct = true, .evidence = "", .tensors = {}};
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output) {
      continue;
    }
    const std::vector<double> values = decode(tensor.dtype, outputs.at(tensor.name));
    APO_CHECK(values.size() == static_cast<std::size_t>(element_count(tensor, axes)));
    comparison.tensors.push_back(TensorComparer(family, axes, tensor, expected, values).run(expected.units));
    if (!comparison.tensors.back().correct && comparison.correct) {
      comparison.correct = false;
      comparison.evidence = comparison.tensors.back().evidence;
    }
  }
  if (comparison.correct) {
    std::int64_t compared = 0;
    double worst = 0;
    for (const TensorComparison& tensor : comparison.tensors) {
      compared += tensor.compared;
      worst = std::max(worst, tensor.relative_error);
    }
    comparison.evidence =
        std::to_string(compared) + " elements right, largest relative error of a tensor " + format_g(worst, 3);
  }
  return comparison;
}

}  // namespace apo
