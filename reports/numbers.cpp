// reports/numbers.cpp - formats effects, times, bands and roofs.
#include "reports/numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo::report {
namespace {

std::string interval_text(const std::string& lower, const std::string& upper) {
  return " [" + lower + ", " + upper + "]";
}

std::string count_text(int n) {
  return n > 0 ? fmt::format(" n={}", n) : "";
}

std::string quantity_text(double value, const std::string& unit) {
  if (unit == "ns") {
    return format_ns(value);
  }
  if (unit == "s") {
    return format_ns(1e9 * value);  // a roof that is a cost, and not a rate
  }
  if (unit == "byte") {
    return format_bytes(value);
  }
  const std::string shown = unit == "ratio" ? "" : unit;
  const bool prefixed = !unit.empty() && std::string_view("kMGT").find(unit.front()) != std::string_view::npos;
  const bool large = std::fabs(value) >= 1e4;
  return trim(large && !prefixed ? format_si(value, shown) : (large ? fixed(value, 0) : format_g(value)) + " " + shown);
}

}  // namespace

std::string fixed(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : kNotMeasuredText;
}

std::string ratio_text(double log_effect) {
  return format_ratio(std::exp(log_effect));
}

std::string effect_text(double effect, double lower, double upper) {
  if (!std::isfinite(std::exp(effect))) {
    return kNotMeasuredText;
  }
  return format_effect(effect, lower, upper);
}

std::string measured_text(const Experiment& experiment) {
  if (!has_effect(experiment)) {
    return kNotMeasuredText;
  }
  const Judgement& judgement = *experiment.judgement;
  return effect_text(judgement.effect, judgement.lower, judgement.upper) + count_text(judgement.rounds);
}

std::string certified_figure(const Certification& certification) {
  const QuotedEffect quoted = certification.quoted();
  return certification.rounds <= 0
             ? kNotMeasuredText
             : effect_text(quoted.effect, quoted.lower, quoted.upper) + count_text(certification.quoted_count());
}

std::string band_text(const Prediction& prediction) {
  if (!has_prediction(prediction)) {
    return "not predicted";
  }
  return format_band(prediction.low, prediction.high);
}

std::string percent_text(double fraction) {
  if (!std::isfinite(fraction)) {
    return kNotMeasuredText;
  }
  return fixed(100 * fraction, std::fabs(fraction) < 0.1 ? 1 : 0) + " %";
}

std::string time_text(double ns) {
  return ns > 0 ? format_ns(ns) : kNotMeasuredText;
}

std::string metric_text(const Metric& metric) {
  if (!std::isfinite(metric.value)) {
    return kNotMeasuredText;
  }
  const auto text_of = [&](double value) { return quantity_text(value, metric.unit); };
  const bool interval = metric.lower && metric.upper && std::isfinite(*metric.lower) && std::isfinite(*metric.upper);
  return text_of(metric.value) + (interval ? interval_text(text_of(*metric.lower), text_of(*metric.upper)) : "") +
         count_text(metric.samples);
}

std::string roof_text(const Roof& roof) {
  const bool interval = roof.lower > 0 && std::isfinite(roof.upper);
  const auto bound = [&](double value) { return interval ? std::optional(value) : std::nullopt; };
  return roof.value > 0 ? metric_text({.name = roof.name,
                                       .value = roof.value,
                                       .unit = roof.unit,
                                       .lower = bound(roof.lower),
                                       .upper = bound(roof.upper),
                                       .samples = roof.samples})
                        : kNotMeasuredText;
}

}  // namespace apo::report
