// harness/core/applications/application_comparison.cpp - the sentences of a judgement by an application.
#include "harness/core/applications/application_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string ratios(double effect, double lower, double upper) {
  return format_interval(std::exp(effect), std::exp(lower), std::exp(upper)).all();
}

std::string signed_number(double value) {
  return (value < 0 ? "" : "+") + format_g(value, 3);
}

std::string needed_text(const QualityChange& quality) {
  if (quality.finding != QualityFinding::inconclusive) {
    return "";
  }
  return quality.seeds_needed > 0 ? fmt::format("; about {} seeds would decide", quality.seeds_needed)
                                  : "; the change is as large as the margin, and no number of seeds is known to decide";
}

}  // namespace

const SpeedEffect* deciding_speed(const ApplicationComparison& comparison) {
  const auto found = std::find_if(comparison.speeds.begin(), comparison.speeds.end(),
                                  [](const SpeedEffect& one) { return one.view == ApplicationView::fixed_steps; });
  return found == comparison.speeds.end() ? nullptr : &*found;
}

std::string_view failed_arms(const ApplicationComparison& comparison) {
  return comparison.failed_a && comparison.failed_b ? "both"
         : comparison.failed_a                      ? "a"
         : comparison.failed_b                      ? "b"
                                                    : "";
}

std::string metric_text(const ApplicationMetric& metric, double value) {
  if (metric.role == MetricRole::speed && !metric.higher_is_better) {
    return format_ns(1e9 * value);
  }
  return format_g(value, 5) + (metric.unit.empty() ? "" : " " + metric.unit);
}

std::string speed_text(const ApplicationComparison& comparison, const SpeedEffect& speed) {
  const ApplicationMetric& metric = comparison.application.speed();
  return fmt::format("{} {} -> {}, {} as fast, {:g} % interval, {} pairs", metric.name,
                     metric_text(metric, speed.value_a), metric_text(metric, speed.value_b),
                     ratios(speed.effect, speed.lower, speed.upper), 100 * speed.confidence, speed.pairs);
}

std::string quality_text(const QualityChange& quality) {
  return fmt::format("{} {} -> {}, change {} [{}, {}], {} with margin {}, {} seed{}{}", quality.metric,
                     format_g(quality.value_a, 6), format_g(quality.value_b, 6), signed_number(quality.change),
                     signed_number(quality.lower), signed_number(quality.upper), to_string(quality.finding),
                     format_g(quality.margin, 3), quality.seeds, quality.seeds == 1 ? "" : "s", needed_text(quality));
}

std::string expectation_text(const ApplicationExpectation& expectation) {
  if (!expectation.missing.empty()) {
    return "no expectation: " + expectation.missing;
  }
  return fmt::format("expected {} of a step, from {} of the kernel ({}) on {} of the time (application profile {}): {}",
                     ratios(expectation.effect, expectation.lower, expectation.upper),
                     ratios(expectation.kernel_effect, expectation.kernel_lower, expectation.kernel_upper),
                     expectation.kernel, format_share(expectation.share), expectation.profile,
                     expectation.agrees ? "the measured step agrees" : "the measured step DISAGREES");
}

}  // namespace apo
