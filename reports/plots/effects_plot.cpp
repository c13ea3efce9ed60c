// reports/plots/effects_plot.cpp - the forest plots: effect and interval of every experiment, beside its predicted
// band, and of every benchmark of a suite.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/interval.h"
#include "reports/numbers.h"
#include "reports/plots/plots.h"
#include "reports/plots/svg.h"

namespace apo::report {
namespace {

using svg::Ink;

constexpr double kRowHeight = 24;

// Measured effects decide the range; a bold prediction may stretch it by four times that, and is cut there.
svg::LogRange range_of(const ReportModel& model) {
  svg::LogRange measured;
  svg::LogRange predicted;
  for (const Experiment& experiment : model.experiments) {
    if (has_effect(experiment)) {
      measured.include(experiment.judgement->effect);
      measured.include(experiment.judgement->lower);
      measured.include(experiment.judgement->upper);
    }
    if (has_prediction(experiment.prediction)) {
      predicted.include(std::log(experiment.prediction.low));
      predicted.include(std::log(experiment.prediction.high));
    }
  }
  const double span = std::max(measured.high - measured.low, 0.01);
  svg::LogRange range{std::max(predicted.low, measured.low - 4 * span),
                      std::min(predicted.high, measured.high + 4 * span)};
  range.include(measured.low);
  range.include(measured.high);
  const double margin = std::max(0.05 * (range.high - range.low), 0.001);
  return {range.low - margin, range.high + margin};
}

struct Interval {
  double ratio = 0;
  double lower = 0;
  double upper = 0;
};

void draw_interval(svg::Canvas& canvas, const Interval& interval, const svg::Mark& mark, const svg::Scale& x, double y,
                   const std::string& tooltip) {
  const double left = x(interval.lower);
  const double right = x(interval.upper);
  canvas.line({left, y}, {right, y}, mark.ink);
  canvas.line({left, y - 4}, {left, y + 4}, mark.ink);
  canvas.line({right, y - 4}, {right, y + 4}, mark.ink);
  canvas.mark(mark.shape, {x(interval.ratio), y}, mark.ink, tooltip);
}

void draw_effect(svg::Canvas& canvas, const Experiment& experiment, const svg::Scale& x, double y) {
  const Judgement& judgement = *experiment.judgement;
  draw_interval(canvas, {judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()},
                svg::mark_of(judgement.verdict), x, y, measured_text(experiment) + ", " + judgement.sentence);
}

Verdict colour_of(const Figure& figure) {
  return figure.finding == QualityFinding::worse    ? Verdict::reverted
         : figure.finding == QualityFinding::better ? Verdict::accepted
                                                    : Verdict::inconclusive;
}

std::vector<svg::LegendEntry> legend_of_suite() {
  std::vector<svg::LegendEntry> legend;
  for (const QualityFinding finding : {QualityFinding::better, QualityFinding::worse, QualityFinding::equivalent}) {
    const svg::Mark mark = svg::mark_of(colour_of({.finding = finding}));
    legend.push_back({mark.shape, mark.ink, false, std::string(benchmark_word(finding))});
  }
  legend.push_back({{}, Ink::axis, true, "as fast"});
  return legend;
}

void draw_row(svg::Canvas& canvas, const Experiment& experiment, const svg::Scale& x, const svg::Box& frame, double y) {
  const std::string name = fmt::format("#{} {}", experiment.index, experiment.candidate.label());
  // All candidates are of one family, so the label leaves it out; the tooltip has the whole name.
  const std::string label = experiment.candidate.label();
  const std::string own_name = fmt::format("#{} {}", experiment.index, label.substr(label.find('/') + 1));
  canvas.text({16, y + 4}, svg::shorten(own_name, frame.left - 32), Ink::text, svg::Anchor::start, name);
  if (has_prediction(experiment.prediction)) {
    // A band beyond the range stays visible as a stub at the edge.
    const double left = std::clamp(x(experiment.prediction.low), frame.left, frame.right - 6);
    const double right = std::clamp(x(experiment.prediction.high), frame.left + 6, frame.right);
    canvas.bar({left, y - 7, std::max(right, left + 1.5), y + 7}, Ink::band,
               "predicted " + band_text(experiment.prediction) + ": " + experiment.prediction.because);
  }
  const double text_x = frame.right + 12;
  if (!has_effect(experiment)) {
    const std::string why = std::string(kNotMeasuredText) + ": " + std::string(to_string(experiment.outcome));
    canvas.text({text_x, y + 4}, why, Ink::faint);
    return;
  }
  draw_effect(canvas, experiment, x, y);
  canvas.text({text_x, y + 4}, measured_text(experiment), Ink::text);
}

}  // namespace

std::string suite_plot(const std::vector<Figure>& figures) {
  std::vector<const Figure*> timed;
  svg::LogRange range;
  for (const Figure& figure : figures) {
    if (figure.count > 0) {
      timed.push_back(&figure);
      for (const double ratio : {figure.change, figure.lower, figure.upper}) {
        range.include(ratio > 0 && std::isfinite(ratio) ? std::log(ratio) : std::log(figure.change));
      }
    }
  }
  if (timed.empty()) {
    return "";
  }
  const double margin = std::max(0.05 * (range.high - range.low), 0.001);
  const svg::Box frame{300, 74, 680, 82 + static_cast<double>(timed.size()) * kRowHeight};
  svg::Canvas canvas(920, frame.bottom + 52, "Effect on each benchmark",
                     "Speed of B against A with its interval, which holds for all benchmarks of the suite at once.");
  svg::draw_legend(canvas, {16, 46}, 888, legend_of_suite());
  const svg::Scale x{std::exp(range.low - margin), std::exp(range.high + margin), true, frame.left, frame.right};
  const svg::Scale y{0, 1, false, frame.bottom, frame.top};
  svg::draw_axes(canvas, frame, x, y, svg::ratio_ticks(x.low, x.high, 6), {}, {"speed of B against A", ""});
  canvas.line({x(1), frame.top}, {x(1), frame.bottom}, Ink::axis, true, "as fast");
  double row_y = frame.top + 4 + kRowHeight / 2;
  for (const Figure* figure : timed) {
    canvas.text({16, row_y + 4}, svg::shorten(figure->metric, frame.left - 32), Ink::text, svg::Anchor::start,
                figure->metric);
    draw_interval(canvas,
                  {figure->change, std::clamp(figure->lower, x.low, x.high), std::clamp(figure->upper, x.low, x.high)},
                  svg::mark_of(colour_of(*figure)), x, row_y, figure_text(*figure));
    canvas.text({frame.right + 12, row_y + 4}, format_interval(figure->change, figure->lower, figure->upper).all(),
                Ink::text);
    row_y += kRowHeight;
  }
  return canvas.finish();
}

std::string effects_plot(const ReportModel& model) {
  if (std::none_of(model.experiments.begin(), model.experiments.end(),
                   [](const Experiment& one) { return has_effect(one); })) {
    return "";
  }
  const double rows = static_cast<double>(model.experiments.size());
  const double top = 74;
  const svg::Box frame{300, top, 680, top + rows * kRowHeight + 8};
  svg::Canvas canvas(920, frame.bottom + 52, "Effect of each candidate on its incumbent",
                     "Measured speed-up with its interval beside the band that was predicted before measuring.");
  std::vector<svg::LegendEntry> legend = svg::verdict_legend();
  legend.push_back({{}, Ink::band, false, "predicted band"});
  legend.push_back({{}, Ink::axis, true, "no change"});
  svg::draw_legend(canvas, {16, 46}, 888, legend);
  const svg::LogRange range = range_of(model);
  const svg::Scale x{std::exp(range.low), std::exp(range.high), true, frame.left, frame.right};
  const svg::Scale y{0, 1, false, frame.bottom, frame.top};
  svg::draw_axes(canvas, frame, x, y, svg::ratio_ticks(x.low, x.high, 6), {}, {"speed-up over the incumbent", ""});
  canvas.line({x(1), frame.top}, {x(1), frame.bottom}, Ink::axis, true, "no change");
  double row_y = frame.top + 4 + kRowHeight / 2;
  for (const Experiment& experiment : model.experiments) {
    draw_row(canvas, experiment, x, frame, row_y);
    row_y += kRowHeight;
  }
  return canvas.finish();
}

}  // namespace apo::report
