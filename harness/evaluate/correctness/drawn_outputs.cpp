// harness/evaluate/correctness/drawn_outputs.cpp - the nearest alternative of each element, where they can be told
// apart.
#include "harness/evaluate/correctness/drawn_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "kernels/closeness.h"

namespace apo {
namespace {

// One random output at one unit: its part of each gathered tensor.
class UnitOutput {
 public:
  UnitOutput(const Tolerance& tolerance, const Expected& expected, const std::string& tensor, std::size_t begin,
             std::size_t count)
      : draws_(std::span(expected.random.draws.at(tensor)).subspan(begin, count)) {
    for (const Alternative& one : expected.random.each) {
      values_.push_back(std::span(one.values.at(tensor)).subspan(begin, count));
      noise_.push_back(std::span(one.noise.at(tensor)).subspan(begin, count));
      probabilities_.push_back(std::span(one.probability.at(tensor)).subspan(begin, count));
      scales_.push_back(error_scales(tolerance, noise_.back()));
    }
  }

  std::int64_t draw(std::size_t i) const { return static_cast<std::int64_t>(draws_[i]); }
  double value(std::size_t i, std::size_t which) const { return values_[which][i]; }
  double noise(std::size_t i, std::size_t which) const { return noise_[which][i]; }

  std::vector<double> probabilities(std::size_t i) const {
    std::vector<double> all;
    for (const std::span<const double> each : probabilities_) {
      all.push_back(each[i]);
    }
    return all;
  }

  std::size_t nearest(std::size_t i, double actual) const {
    std::size_t best = 0;
    for (std::size_t which = 1; which < values_.size(); ++which) {
      best = distance(values_[which][i], actual) < distance(values_[best][i], actual) ? which : best;
    }
    return best;
  }

  // Whether no alternative may be taken for another. That depends on them alone: were elements left out for what they
  // show, the rest would be no fair sample.
  bool is_told(const Tolerance& tolerance, std::size_t i) const {
    for (std::size_t a = 0; a < values_.size(); ++a) {
      for (std::size_t b = 0; b < values_.size(); ++b) {
        if (a != b && probabilities_[a][i] > 0 && probabilities_[b][i] > 0 &&
            element_closeness(tolerance, values_[a][i], scales_[a][i], values_[b][i]) <= 1) {
          return false;
        }
      }
    }
    return true;
  }

  double size(std::size_t i) const {
    double sum = 0;
    for (const std::span<const double> each : values_) {
      sum += each[i];
    }
    return sum;
  }

 private:
  static double distance(double expected, double actual) {
    return expected == actual ? 0 : std::isnan(expected) && std::isnan(actual) ? 0 : std::fabs(expected - actual);
  }

  std::span<const double> draws_;
  std::vector<std::span<const double>> values_;
  std::vector<std::span<const double>> noise_;
  std::vector<std::span<const double>> probabilities_;
  std::vector<std::vector<double>> scales_;
};

std::vector<std::int64_t> places_of(const std::vector<ElementRun>& runs) {
  std::vector<std::int64_t> places;
  for (const ElementRun& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      places.push_back(run.offset + i);
    }
  }
  return places;
}

// A draw that an element of the unit has shown.
struct Shown {
  std::optional<std::size_t> taken;
  const TensorSpec* tensor = nullptr;
  std::int64_t place = 0;
};

class DrawReader {
 public:
  DrawReader(const Family& family, const Axes& axes, const Expected& expected, const OutputViews& outputs)
      : family_(family), axes_(axes), expected_(expected), outputs_(outputs) {
    drawn_.expected.units = expected.units;
    drawn_.expected.reference = expected.reference;
    drawn_.expected.noise = expected.noise;
  }

  DrawnOutputs run() {
    const bool all = expected_.units.empty();
    const std::int64_t units = all ? family_.unit_count(axes_) : std::ssize(expected_.units);
    for (std::int64_t i = 0; i < units; ++i) {
      unit_ = all ? i : expected_.units[static_cast<std::size_t>(i)];
      shown_.clear();
      for (const TensorSpec& tensor : family_.tensors) {
        if (tensor.role == Role::output && tensor.random) {
          read(tensor);
        }
      }
    }
    return std::move(drawn_);
  }

 private:
  // What the unit has of one output.
  void read(const TensorSpec& tensor) {
    const Tolerance tolerance = family_.tolerance(tensor.name, axes_);
    const std::vector<std::int64_t> places = places_of(family_.unit_elements(axes_, tensor.name, unit_));
    std::size_t& begin = next_[tensor.name];
    const UnitOutput output(tolerance, expected_, tensor.name, begin, places.size());
    double before = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t taken = output.nearest(i, outputs_.at(tensor.name).value(tensor.dtype, places[i]));
      drawn_.expected.reference.at(tensor.name)[begin + i] = output.value(i, taken);
      drawn_.expected.noise.at(tensor.name)[begin + i] = output.noise(i, taken);
      if (output.draw(i) < 0 || !output.is_told(tolerance, i)) {
        continue;
      }
      const auto draw = static_cast<std::size_t>(output.draw(i));
      if (is_first(draw, {.taken = taken, .tensor = &tensor, .place = places[i]})) {
        drawn_.draws.add(unit_, draw, output.probabilities(i), taken, output.size(i),
                         std::exchange(before, output.size(i)));
      }
    }
    begin += places.size();
  }

  // Whether no element has shown the draw before; one that has, has to show the same.
  bool is_first(std::size_t draw, const Shown& now) {
    shown_.resize(std::max(shown_.size(), draw + 1));
    Shown& known = shown_[draw];
    if (!known.taken) {
      known = now;
      return true;
    }
    if (known.taken != now.taken && drawn_.draws.inconsistent.empty()) {
      drawn_.draws.inconsistent = fmt::format("element {} of {} and element {} of {} show two alternatives of one draw",
                                              now.place, now.tensor->name, known.place, known.tensor->name);
    }
    return false;
  }

  const Family& family_;
  const Axes& axes_;
  const Expected& expected_;
  const OutputViews& outputs_;
  std::int64_t unit_ = 0;
  std::vector<Shown> shown_;                 // of the unit, by draw
  std::map<std::string, std::size_t> next_;  // of each output, in the gathered tensors
  DrawnOutputs drawn_;
};

}  // namespace

DrawnOutputs drawn_outputs(const Family& family, const Axes& axes, const Expected& expected,
                           const OutputViews& outputs) {
  return DrawReader(family, axes, expected, outputs).run();
}

}  // namespace apo
