// harness/loop/contract/tolerance_checks.cpp - compares bounds with values, and perturbs one operation at a time.
#include "harness/loop/contract/tolerance_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "harness/core/text.h"
#include "kernels/closeness.h"

namespace apo {
namespace {

// Of the root mean square of the values around an element: worth a note, and more than any fp32 kernel should need.
constexpr double kWide = 0.01;
constexpr double kTooWide = 0.05;
// Of a reference that shows no error: its bound in units of the output's rounding.
constexpr double kOfRounding = 64;

double rms(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) {
    squares += std::isfinite(value) ? value * value : 0;
  }
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

// The bound of an element before the rounding of the output, as a part of the values of its group: what one in ten
// groups exceeds in its worst element.
double relative_bound(const Tolerance& tolerance, const std::vector<double>& expected,
                      const std::vector<double>& noise) {
  const std::vector<double> scales = error_scales(tolerance, noise);
  std::vector<double> parts;
  for (std::size_t begin = 0, end = 0; begin < expected.size(); begin = end) {
    end = group_end(tolerance, expected.size(), begin);
    const double size = rms(std::span(expected).subspan(begin, end - begin));
    if (size > 0) {
      const double scale = std::ranges::max(std::span(scales).subspan(begin, end - begin));
      parts.push_back(tolerance.element_sigmas * scale / size);
    }
  }
  if (parts.empty()) {
    return 0;
  }
  const auto place = parts.begin() + std::ssize(parts) * 9 / 10;
  std::ranges::nth_element(parts, place);
  return *place;
}

struct Cause {
  std::string operation;
  double noise = 0;  // of it alone
};

// The operation that makes most of an output's noise. Each is perturbed alone.
Cause cause_of_noise(const CheckedFamily& subject, const InputSet& inputs, const Expected& expected,
                     const std::string& tensor) {
  std::vector<std::string> operations = {"addition", "multiplication", "division", "fma",
                                         "rounded",  "approximate",    "either"};
  for (const NamedCount& special : subject.family.work(inputs.axes).special_by_name) {
    operations.push_back(special.name);
  }
  const TensorMap reference = subject.family.reference(inputs.axes, inputs.values, expected.units, subject.threads);
  Cause cause;
  for (const std::string& operation : operations) {
    const TensorMap noise = subject.program
                                .ask({.mode = oracle::Mode::noise,
                                      .axes = inputs.axes,
                                      .units = expected.units,
                                      .values = &inputs.values,
                                      .more_values = &reference,
                                      .threads = subject.threads,
                                      .only = operation})
                                .outputs;
    if (const double own = rms(noise.at(tensor)); own > cause.noise) {
      cause = {.operation = operation, .noise = own};
    }
  }
  return cause;
}

bool is_stated(const Cause& cause) {
  return cause.operation == "rounded" || cause.operation == "approximate" || cause.operation == "either";
}

std::string rewrite_of(const Cause& cause) {
  if (cause.operation == "rounded") {
    return "the file says so with rounded<...>(...): a format of more bits narrows it";
  }
  if (cause.operation == "approximate" || cause.operation == "either") {
    return "the file says so with " + cause.operation + "(...): more bits narrow it";
  }
  const std::string in_double =
      "what follows from axes, indices and scalars alone is no number that a kernel may round: write it in double, as "
      "in "
      "Real(std::cos(position * std::pow(10000.0, -2.0 * i / D)))";
  return cause.operation == "addition" ? "terms that cancel cause it: subtract what they have in common first, as a "
                                         "variance in two passes does; or " +
                                             in_double
                                       : in_double;
}

void check_derived(const CheckedFamily& subject, const Case& each, const InputSet& inputs, const Expected& expected,
                   const TensorSpec& tensor, std::vector<std::string>& notes) {
  const double bound = relative_bound(subject.family.tolerance(tensor.name, inputs.axes),
                                      expected.reference.at(tensor.name), expected.noise.at(tensor.name));
  if (bound < kWide || !is_cpp(subject)) {
    return;
  }
  const Cause cause = cause_of_noise(subject, inputs, expected, tensor.name);
  const std::string what = fmt::format("the derived bound of {} is {} % of its values; '{}' causes most of it",
                                       tensor.name, format_g(100 * bound, 2), cause.operation);
  if (bound > kTooWide && !is_stated(cause) && !subject.file.tolerance) {
    refuse(
        subject, tensor.name, what,
        rewrite_of(cause) +
            ". If a kernel may be off so far: '// apo:tolerance derived because REASON', or rtol and atol of your own");
  }
  const bool is_known = std::ranges::any_of(
      notes, [&](const std::string& note) { return note.starts_with("the derived bound of " + tensor.name + " "); });
  if (!is_known) {
    notes.push_back(fmt::format("{} (workload {}): {}", what, each.workload_name(), rewrite_of(cause)));
  }
}

// The bound of an element with its rounding, over all of an output.
double rms_bound(const Tolerance& tolerance, const std::vector<double>& expected, const std::vector<double>& noise) {
  const std::vector<double> scales = error_scales(tolerance, noise);
  std::vector<double> bounds(expected.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = element_bound(tolerance, expected[i], scales[i]);
  }
  return rms(bounds);
}

void check_declared(const CheckedFamily& subject, const InputSet& inputs, const Expected& expected,
                    const TensorSpec& tensor) {
  if (!subject.file.tolerance->reason.empty()) {
    return;
  }
  FamilyFile file = subject.file;
  file.tolerance.reset();
  const Family derived = family_of(file, subject.options);
  const std::vector<double>& values = expected.reference.at(tensor.name);
  const double own =
      rms_bound(subject.family.tolerance(tensor.name, inputs.axes), values, expected.noise.at(tensor.name));
  double other = 0;
  if (file.widest == ReferencePrecision::declared) {
    other = kOfRounding * rms_bound({.output_rounding = unit_roundoff(tensor.dtype)}, values, values);
  } else {
    const Expected by_noise = expect(derived, inputs, expected.units, subject.threads);
    other = rms_bound(derived.tolerance(tensor.name, inputs.axes), values, by_noise.noise.at(tensor.name));
  }
  if (own > other) {
    refuse(subject, tensor.name,
           fmt::format("apo:tolerance allows {} {} on average, {}x the derived bound", tensor.name, format_g(own, 2),
                       format_g(own / other, 3)),
           fmt::format("leave the line out, tighten it, or say why: '// apo:tolerance {} because REASON', which stands "
                       "beside every verdict",
                       tolerance_text(*subject.file.tolerance)));
  }
}

void check_decided(const CheckedFamily& subject, const Expected& expected, const TensorSpec& tensor) {
  const std::vector<double>& noise = expected.noise.at(tensor.name);
  const auto open = std::ranges::count_if(noise, [](double sigma) { return std::isinf(sigma); });
  if (2 * open > std::ssize(noise)) {
    refuse(
        subject, tensor.name,
        fmt::format("{} of {} elements of {} may be anything: rounding decides them", open, noise.size(), tensor.name),
        "draw inputs that lie further apart, or write the value that decides as an output too");
  }
}

}  // namespace

void check_tolerance(const CheckedFamily& subject, const Case& each, const InputSet& inputs, const Expected& expected,
                     std::vector<std::string>& notes) {
  for (const TensorSpec& tensor : subject.family.tensors) {
    if (tensor.role != Role::output) {
      continue;
    }
    if (!is_float(tensor.dtype)) {
      check_decided(subject, expected, tensor);
    } else if (subject.file.tolerance && !subject.file.tolerance->is_derived) {
      check_declared(subject, inputs, expected, tensor);
    } else {
      check_derived(subject, each, inputs, expected, tensor, notes);
    }
  }
}

void note_inputs_without_regimes(const CheckedFamily& subject, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const FileTensor& tensor : subject.file.tensors) {
    if (tensor.role == Role::input && tensor.distribution.kind == DistributionKind::function) {
      names.push_back(tensor.name);
    }
  }
  if (!names.empty()) {
    notes.push_back(fmt::format("a fill function draws {}: these are typical in every regime", join(names, ", ")));
  }
}

}  // namespace apo
