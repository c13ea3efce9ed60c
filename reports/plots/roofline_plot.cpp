// reports/plots/roofline_plot.cpp - the measured roofs, and where the first and the last incumbent stand under them.
#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/plots/plots.h"
#include "reports/plots/svg.h"

namespace apo::report {
namespace {

using svg::Ink;
using svg::Shape;

// A point of the roofline: one profile.
struct RooflinePoint {
  std::string label;
  double intensity = kNotMeasured;  // flop/byte, compulsory work
  double flops_per_s = kNotMeasured;
  double floor_flops_per_s = kNotMeasured;  // the rate at the physical floor
};

// In base units ("12 Gflop/s" is 12e9); NaN when absent.
double metric_in_base_units(const Profile& profile, const std::string& name) {
  const auto found =
      std::find_if(profile.metrics.begin(), profile.metrics.end(), [&](const Metric& one) { return one.name == name; });
  if (found == profile.metrics.end()) {
    return kNotMeasured;
  }
  switch (found->unit.empty() ? ' ' : found->unit.front()) {
    case 'k':
      return found->value * 1e3;
    case 'M':
      return found->value * 1e6;
    case 'G':
      return found->value * 1e9;
    case 'T':
      return found->value * 1e12;
    default:
      return found->value;
  }
}

RooflinePoint roofline_point(const Profile& profile) {
  const double flops_per_s = metric_in_base_units(profile, "gflops");
  const double bytes_per_s = metric_in_base_units(profile, "gb_per_s");
  RooflinePoint point{.label = profile.configuration.label()};
  if (flops_per_s > 0 && bytes_per_s > 0) {
    point.intensity = flops_per_s / bytes_per_s;
    point.flops_per_s = flops_per_s;
    point.floor_flops_per_s =
        profile.floor_ns > 0 && profile.time_ns > 0 ? flops_per_s * (profile.time_ns / profile.floor_ns) : kNotMeasured;
  }
  return point;
}

struct Spot {
  RooflinePoint point;
  const Profile* profile = nullptr;
  bool last = false;
};

bool plausible(double rate) {
  return rate > 1e-30 && rate < 1e30;
}  // false for NaN

std::vector<Spot> collect_spots(const ReportModel& model) {
  std::vector<Spot> spots;
  for (const auto* profiles : {&model.first_profiles, &model.last_profiles}) {
    for (const Profile& profile : *profiles) {
      Spot spot{roofline_point(profile), &profile, profiles == &model.last_profiles};
      if (plausible(spot.point.intensity) && plausible(spot.point.flops_per_s)) {
        spots.push_back(spot);
      }
    }
  }
  return spots;
}

// A roof as flop/s = slope * intensity (a rate of bytes) or flop/s = level.
struct RoofLine {
  std::string name;
  std::string value;
  double slope = 0;
  double level = 0;
  bool mix = false;  // a rate of other operations, at this kernel's mix of them

  double at(double intensity) const { return slope > 0 ? slope * intensity : level; }
};

// The intensity of a call is over the bytes of its tensors, which a shared memory's rate does not limit. A roof of one
// thread says nothing more where there is the roof of all of them.
bool is_left_out(const Roof& roof, const Profile& profile) {
  return roof.name == "shared_bandwidth" ||
         std::any_of(profile.roofs.begin(), profile.roofs.end(),
                     [&](const Roof& other) { return roof.name == other.name + "_1"; });
}

std::vector<RoofLine> collect_roofs(const Profile& profile) {
  std::vector<RoofLine> lines;
  const double flops_per_special =
      metric_in_base_units(profile, "gflops") / metric_in_base_units(profile, "special_per_s");
  for (const Roof& roof : profile.roofs) {
    RoofLine line{.name = roof.name, .value = roof_text(roof)};
    if (!plausible(roof.value) || is_left_out(roof, profile)) {
      continue;
    }
    if (roof.unit.ends_with("byte/s") || roof.unit.ends_with("B/s")) {
      line.slope = roof.value;
    } else if (roof.unit.ends_with("flop/s")) {
      line.level = roof.value;
    } else if (std::isfinite(flops_per_special) && flops_per_special > 0 && roof.name.starts_with("special_tanh")) {
      line.level = roof.value * flops_per_special;
      line.mix = true;
    } else {
      continue;
    }
    lines.push_back(line);
  }
  return lines;
}

void draw_roof(svg::Canvas& canvas, svg::LabelPlacer& labels, const RoofLine& roof, const svg::Scale& x,
               const svg::Scale& y) {
  double left = x.low;
  double right = x.high;
  if (roof.slope > 0) {  // cut where the diagonal leaves the frame
    left = std::max(left, y.low / roof.slope);
    right = std::min(right, y.high / roof.slope);
  }
  const bool level_outside = roof.slope == 0 && !y.contains(roof.level);
  if (!(right > left) || level_outside) {
    return;
  }
  const svg::Point from{x(left), y(roof.at(left))};
  const svg::Point to{x(right), y(roof.at(right))};
  canvas.line(from, to, Ink::roof, roof.mix, roof.name + ": " + roof.value);
  labels.occupy_segment(from, to);
}

void label_roof(svg::Canvas& canvas, svg::LabelPlacer& labels, const RoofLine& roof, const svg::Scale& x,
                const svg::Scale& y, const svg::Box& frame) {
  const std::string text = svg::shorten(roof.name + (roof.mix ? " at this mix" : ""), 220);
  // Along the roof from its right end; always beside its own line, so that no label seems to belong to another.
  for (double share = 0.97; share > 0.03; share -= 0.06) {
    const double intensity = std::exp(std::log(x.low) + share * std::log(x.high / x.low));
    const svg::Point at{x(intensity), y(roof.at(intensity))};
    if (at.y > frame.top && at.y < frame.bottom) {
      if (const auto start = labels.place(at, text, 0)) {
        canvas.text(*start, text, Ink::faint, svg::Anchor::start, roof.name + ": " + roof.value);
        return;
      }
    }
  }
}

void draw_spot(svg::Canvas& canvas, svg::LabelPlacer& labels, const Spot& spot, const svg::Scale& x,
               const svg::Scale& y) {
  const svg::Point at{x(spot.point.intensity), y(spot.point.flops_per_s)};
  if (std::isfinite(spot.point.floor_flops_per_s)) {
    const double floor_y = y(spot.point.floor_flops_per_s);
    canvas.line(at, {at.x, floor_y}, Ink::floor, true);
    canvas.line({at.x - 9, floor_y}, {at.x + 9, floor_y}, Ink::floor, false,
                "the floor: " + time_text(spot.profile->floor_ns) + ", bound by " + spot.profile->floor_roof);
    labels.occupy_segment(at, {at.x, floor_y});
    labels.occupy({at.x - 11, floor_y - 3, at.x + 11, floor_y + 3});
  }
  canvas.mark(spot.last ? Shape::circle : Shape::diamond, at, spot.last ? Ink::accepted : Ink::inconclusive,
              spot.point.label + " on " + spot.profile->workload + ": " + format_si(spot.point.flops_per_s, "flop/s") +
                  ", " + percent_text(spot.profile->floor_fraction) + " of the floor's rate");
  labels.occupy({at.x - 7, at.y - 7, at.x + 7, at.y + 7});
}

void label_spot(svg::Canvas& canvas, svg::LabelPlacer& labels, const Spot& spot, const svg::Scale& x,
                const svg::Scale& y, bool name_workload) {
  const std::string name = spot.point.label.substr(spot.point.label.find('/') + 1);
  const std::string full = name_workload ? name + ", " + spot.profile->workload : name;
  for (const double width : {260.0, 180.0, 120.0}) {
    const std::string text = svg::shorten(full, width);
    if (const auto start = labels.place({x(spot.point.intensity), y(spot.point.flops_per_s)}, text, 0)) {
      canvas.text(*start, text, Ink::text, svg::Anchor::start, spot.point.label + " on " + spot.profile->workload);
      return;
    }
  }
}

}  // namespace

std::string roofline_plot(const ReportModel& model) {
  const std::vector<Spot> spots = collect_spots(model);
  if (spots.empty()) {
    return "";
  }
  const std::vector<RoofLine> roofs = collect_roofs(*spots.back().profile);
  svg::LogRange intensities{INFINITY, -INFINITY};
  svg::LogRange rates{INFINITY, -INFINITY};
  for (const Spot& spot : spots) {
    intensities.include(std::log(spot.point.intensity));
    rates.include(std::log(spot.point.flops_per_s));
    rates.include(std::log(spot.point.floor_flops_per_s));
  }
  for (const RoofLine& roof : roofs) {
    rates.include(roof.slope > 0 ? kNotMeasured : std::log(roof.level));
    for (const RoofLine& other : roofs) {  // keep the ridge in sight
      intensities.include(roof.slope > 0 && other.level > 0 ? std::log(other.level / roof.slope) : kNotMeasured);
    }
  }

  svg::Canvas canvas(900, 480, "Roofline, " + svg::shorten(model.campaign.policy.family, 500),
                     "Measured roofs of this machine; the incumbents' rates and the floor of each.");
  std::vector<svg::LegendEntry> legend = {{{}, Ink::roof, false, "measured roof"},
                                          {{}, Ink::floor, false, "floor at that intensity"},
                                          {Shape::diamond, Ink::inconclusive, false, "first incumbent"}};
  if (!model.last_profiles.empty()) {
    legend.push_back({Shape::circle, Ink::accepted, false, "last profiled incumbent"});
  }
  const double top = 46 + svg::draw_legend(canvas, {16, 46}, 868, legend);
  const svg::Box frame{110, top, 880, 430};
  const svg::Scale x{std::exp(intensities.low) / 3, std::exp(intensities.high) * 3, true, frame.left, frame.right};
  const svg::Scale y{std::exp(rates.low) / 2, std::exp(rates.high) * 2, true, frame.bottom, frame.top};
  svg::draw_axes(canvas, frame, x, y, svg::log_ticks(x.low, x.high, ""), svg::log_ticks(y.low, y.high, "flop/s"),
                 {"compulsory work per byte, flop/byte", "flop/s"});

  svg::LabelPlacer labels({frame.left + 2, frame.top, frame.right - 2, frame.bottom - 2});
  for (const RoofLine& roof : roofs) {
    draw_roof(canvas, labels, roof, x, y);
  }
  for (const Spot& spot : spots) {
    draw_spot(canvas, labels, spot, x, y);
  }
  const bool several = model.first_profiles.size() > 1 || model.last_profiles.size() > 1;
  for (const Spot& spot : spots) {
    label_spot(canvas, labels, spot, x, y, several);
  }
  for (const RoofLine& roof : roofs) {
    label_roof(canvas, labels, roof, x, y, frame);
  }
  return canvas.finish();
}

std::vector<NamedPlot> draw_plots(const ReportModel& model) {
  std::vector<NamedPlot> plots = {{"trajectory", "Incumbent against the baseline", trajectory_plot(model)},
                                  {"effects", "Effect of each candidate on its incumbent", effects_plot(model)},
                                  {"roofline", "Roofline", roofline_plot(model)}};
  std::erase_if(plots, [](const NamedPlot& plot) { return plot.svg.empty(); });
  return plots;
}

}  // namespace apo::report
