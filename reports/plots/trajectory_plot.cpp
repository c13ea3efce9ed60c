// reports/plots/trajectory_plot.cpp - plots the incumbent's way from the baseline and the attempts along it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/numbers.h"
#include "reports/plots/plots.h"
#include "reports/plots/svg.h"

namespace apo::report {
namespace {

using svg::Ink;
using svg::Shape;

// Whiskers: the candidate's own interval, moved to where it started from.
double shifted(const TrajectoryPoint& point, const Experiment& experiment, double bound) {
  return point.candidate + bound - experiment.judgement->effect;
}

svg::LogRange products_of(const ReportModel& model) {
  svg::LogRange range;
  for (std::size_t i = 1; i < model.trajectory.size(); ++i) {
    const TrajectoryPoint& point = model.trajectory[i];
    const Experiment& experiment = model.experiments[i - 1];
    range.include(point.cumulative);
    range.include(point.candidate);
    if (has_effect(experiment)) {
      range.include(shifted(point, experiment, experiment.judgement->lower));
      range.include(shifted(point, experiment, experiment.judgement->upper));
    }
  }
  if (model.claim) {
    range.include(model.claim->quoted().lower);
    range.include(model.claim->quoted().upper);
  }
  const double margin = std::max(0.08 * (range.high - range.low), 0.002);
  return {range.low - margin, range.high + 1.6 * margin};
}

std::string tooltip_of(const Experiment& experiment) {
  return fmt::format("#{} {}: {} over its incumbent, {} ({})", experiment.index, experiment.candidate.label(),
                     measured_text(experiment), to_string(experiment.judgement->verdict),
                     to_string(experiment.judgement->reason));
}

void draw_candidates(svg::Canvas& canvas, svg::LabelPlacer& labels, const ReportModel& model, const svg::Scale& x,
                     const svg::Scale& y, double never_timed_y) {
  for (std::size_t i = 1; i < model.trajectory.size(); ++i) {
    const TrajectoryPoint& point = model.trajectory[i];
    const Experiment& experiment = model.experiments[i - 1];
    const svg::Mark mark = svg::mark_of(experiment.judgement->verdict);
    const double at_x = x(point.index);
    const bool timed = has_effect(experiment);
    const svg::Point at{at_x, timed ? y(std::exp(point.candidate)) : never_timed_y};
    if (timed) {
      const double top = y(std::exp(shifted(point, experiment, experiment.judgement->upper)));
      const double bottom = y(std::exp(shifted(point, experiment, experiment.judgement->lower)));
      canvas.line({at_x, bottom}, {at_x, top}, mark.ink);
      labels.occupy_segment({at_x, bottom}, {at_x, top});
    }
    canvas.mark(mark.shape, at, mark.ink, tooltip_of(experiment));
    labels.occupy({at.x - 7, at.y - 7, at.x + 7, at.y + 7});
  }
}

void draw_steps(svg::Canvas& canvas, svg::LabelPlacer& labels, const ReportModel& model, const svg::Scale& x,
                const svg::Scale& y) {
  std::vector<svg::Point> steps;
  for (const TrajectoryPoint& point : model.trajectory) {
    if (!std::isfinite(point.cumulative)) {
      break;  // from here on the product is unknown
    }
    const svg::Point next{x(point.index), y(std::exp(point.cumulative))};
    if (!steps.empty()) {
      labels.occupy_segment(steps.back(), {next.x, steps.back().y});
      labels.occupy_segment({next.x, steps.back().y}, next);
      steps.push_back({next.x, steps.back().y});
    }
    steps.push_back(next);
  }
  canvas.polyline(steps, Ink::step, "naive product of the accepted effects: no claim");
}

void label_steps(svg::Canvas& canvas, svg::LabelPlacer& labels, const ReportModel& model, const svg::Scale& x,
                 const svg::Scale& y) {
  for (std::size_t i = 0; i < model.trajectory.size(); ++i) {
    const TrajectoryPoint& point = model.trajectory[i];
    if (i > 0 && !point.accepted) {
      continue;
    }
    // The family stands in the title; the variant's own name tells the steps apart.
    const std::string name = point.incumbent.substr(point.incumbent.find('/') + 1);
    const std::string text = svg::shorten(name, 210);
    const auto start = labels.place({x(point.index), y(std::exp(point.cumulative))}, text);
    if (start) {
      canvas.text(*start, text, Ink::text, svg::Anchor::start, point.incumbent);
    }
  }
}

}  // namespace

std::string trajectory_plot(const ReportModel& model) {
  if (std::none_of(model.experiments.begin(), model.experiments.end(),
                   [](const Experiment& one) { return has_effect(one); })) {
    return "";
  }
  svg::Canvas canvas(900, 460, "Incumbent against the baseline, " + svg::shorten(model.campaign.policy.family, 400),
                     "Naive product of the accepted effects after each experiment, with every candidate's own effect.");
  std::vector<svg::LegendEntry> legend = svg::verdict_legend();
  legend.insert(legend.begin(), {{}, Ink::step, false, "incumbent (naive product)"});
  if (model.claim) {
    legend.push_back({Shape::square, Ink::claim, false, "certified (the claim)"});
  }
  const double top = 46 + svg::draw_legend(canvas, {16, 46}, 868, legend);
  const bool some_untimed = !std::all_of(model.experiments.begin(), model.experiments.end(),
                                         [](const Experiment& one) { return has_effect(one); });
  const svg::Box frame{80, top, 880, 410};
  const double never_timed_y = frame.bottom - 14;

  const svg::LogRange range = products_of(model);
  const int last = model.trajectory.back().index + (model.claim ? 1 : 0);
  const svg::Scale x{-0.5, last + 0.5, false, frame.left, frame.right};
  const svg::Scale y{std::exp(range.low), std::exp(range.high), true, frame.bottom - (some_untimed ? 30 : 0),
                     frame.top};
  svg::draw_axes(canvas, frame, x, y, svg::linear_ticks(0, model.trajectory.back().index, 15, 1),
                 svg::ratio_ticks(y.low, y.high, 7), {"experiment", "speed-up over the baseline"});
  canvas.line({frame.left, y(1)}, {frame.right, y(1)}, Ink::axis, true, "the baseline");

  svg::LabelPlacer labels({frame.left + 2, frame.top, frame.right, frame.bottom - (some_untimed ? 26 : 2)});
  draw_steps(canvas, labels, model, x, y);
  draw_candidates(canvas, labels, model, x, y, never_timed_y);
  if (some_untimed) {
    canvas.line({frame.left, frame.bottom - 28}, {frame.right, frame.bottom - 28}, Ink::grid);
    canvas.text({frame.left + 4, never_timed_y + 4}, "not timed", Ink::faint, svg::Anchor::start,
                "candidates in this strip were stopped by a gate and never timed");
  }
  if (model.claim) {
    const double at_x = x(last);
    const double low_y = y(std::exp(model.claim->quoted().lower));
    const double high_y = y(std::exp(model.claim->quoted().upper));
    canvas.line({at_x, low_y}, {at_x, high_y}, Ink::claim);
    canvas.mark(Shape::square, {at_x, y(std::exp(model.claim->quoted().effect))}, Ink::claim,
                "certified, final incumbent against baseline head to head: " + certified_figure(*model.claim));
    labels.occupy({at_x - 7, high_y - 7, at_x + 7, low_y + 7});
  }
  label_steps(canvas, labels, model, x, y);
  return canvas.finish();
}

}  // namespace apo::report
