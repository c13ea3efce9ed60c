// reports/plots/axes.cpp - scales, nice ticks, legends, and labels that keep clear of everything else (declared in
// svg.h).
#include <algorithm>
#include <array>
#include <cmath>

#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/plots/svg.h"

namespace apo::report::svg {
namespace {

// The step of 1, 2 or 5 times a power of ten that gives at most `about` intervals.
double nice_step(double span, int about) {
  const double rough = span / std::max(about, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

int decimals_of(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
}

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

}  // namespace

double Scale::operator()(double value) const {
  const double position =
      logarithmic ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) : (value - low) / (high - low);
  return pixel_low + position * (pixel_high - pixel_low);
}

bool Scale::contains(double value) const {
  return value >= low && value <= high;
}

std::vector<Tick> linear_ticks(double low, double high, int about, double least_step) {
  std::vector<Tick> ticks;
  if (!(high > low)) {
    return ticks;
  }
  const double step = std::max(nice_step(high - low, about), least_step);
  const double first = std::ceil(low / step - 1e-9) + 0.0;  // + 0.0: no "-0"
  const double last = std::floor(high / step + 1e-9);
  for (double i = first; i <= last; ++i) {
    ticks.push_back({i * step, fixed(i * step, decimals_of(step))});
  }
  return ticks;
}

std::vector<Tick> ratio_ticks(double low, double high, int about) {
  std::vector<Tick> ticks = high / low < 3 ? linear_ticks(low, high, about) : log_ticks(low, high, "");
  for (Tick& tick : ticks) {
    tick.label += "x";
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, std::string_view unit) {
  std::vector<Tick> ticks;
  const double decades = std::log10(high / low);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  for (int exponent = static_cast<int>(std::floor(std::log10(low))); exponent <= std::ceil(std::log10(high));
       ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, exponent);
      const bool wanted = factor == 1.0 ? exponent % stride == 0 : decades < 2.5;
      if (wanted && value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) {
        ticks.push_back({value, unit.empty() ? format_g(value, 3) : format_si(value, unit)});
      }
    }
  }
  return ticks;
}

void LabelPlacer::occupy_segment(Point from, Point to) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (!std::isfinite(length)) {
    return;
  }
  const int pieces = std::clamp(static_cast<int>(length / 4), 1, 1000);
  for (int i = 0; i <= pieces; ++i) {
    const double x = from.x + (to.x - from.x) * i / pieces;
    const double y = from.y + (to.y - from.y) * i / pieces;
    occupy({x - 2.5, y - 2.5, x + 2.5, y + 2.5});
  }
}

bool LabelPlacer::is_free(const Box& box) const {
  const bool inside =
      box.left >= frame_.left && box.right <= frame_.right && box.top >= frame_.top && box.bottom <= frame_.bottom;
  return inside && std::none_of(taken_.begin(), taken_.end(), [&](const Box& other) { return overlap(box, other); });
}

std::optional<Point> LabelPlacer::place(Point at, std::string_view text, double max_rise) {
  const double width = text_width(text);
  const double gap = 8;
  for (double rise = 0; rise <= max_rise; rise += 18) {
    const std::array<Point, 6> starts = {{{at.x - width - gap, at.y - gap - rise},
                                          {at.x + gap, at.y + kFontPx + gap + rise},
                                          {at.x - width / 2, at.y - gap - rise},
                                          {at.x + gap, at.y - gap - rise},
                                          {at.x - width / 2, at.y + kFontPx + gap + rise},
                                          {at.x - width - gap, at.y + kFontPx + gap + rise}}};
    for (const Point& start : starts) {
      const Box box{start.x - 1, start.y - kFontPx, start.x + width + 1, start.y + 4};
      if (is_free(box)) {
        occupy(box);
        return start;
      }
    }
  }
  return std::nullopt;
}

double draw_legend(Canvas& canvas, Point at, double width, const std::vector<LegendEntry>& entries) {
  double x = at.x;
  double y = at.y;
  for (const LegendEntry& entry : entries) {
    const double needed = 30 + text_width(entry.text) + 18;
    if (x > at.x && x + needed > at.x + width) {
      x = at.x;
      y += 20;
    }
    if (entry.shape) {
      canvas.mark(*entry.shape, {x + 12, y - 4}, entry.ink);
    } else if (entry.ink == Ink::band) {
      canvas.bar({x, y - 9, x + 24, y + 1}, entry.ink);
    } else {
      canvas.line({x, y - 4}, {x + 24, y - 4}, entry.ink, entry.dashed);
    }
    canvas.text({x + 30, y}, entry.text, Ink::text);
    x += needed;
  }
  return y - at.y + 20;
}

Mark mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::accepted:
      return {Shape::circle, Ink::accepted};
    case Verdict::reverted:
      return {Shape::cross, Ink::reverted};
    case Verdict::inconclusive:
      break;
  }
  return {Shape::diamond, Ink::inconclusive};
}

std::vector<LegendEntry> verdict_legend() {
  std::vector<LegendEntry> entries;
  for (const Verdict verdict : {Verdict::accepted, Verdict::reverted, Verdict::inconclusive}) {
    entries.push_back({mark_of(verdict).shape, mark_of(verdict).ink, false, std::string(to_string(verdict))});
  }
  return entries;
}

void LogRange::include(double log) {
  if (std::fabs(log) < 70) {
    low = std::min(low, log);
    high = std::max(high, log);
  }
}

void draw_axes(Canvas& canvas, const Box& frame, const Scale& x, const Scale& y, const std::vector<Tick>& x_ticks,
               const std::vector<Tick>& y_ticks, const AxisTitles& titles) {
  for (const Tick& tick : y_ticks) {
    canvas.line({frame.left, y(tick.value)}, {frame.right, y(tick.value)}, Ink::grid);
    canvas.text({frame.left - 8, y(tick.value) + 4}, tick.label, Ink::faint, Anchor::end);
  }
  double last_right = -1e9;
  for (const Tick& tick : x_ticks) {
    const double at = x(tick.value);
    const double half = text_width(tick.label) / 2;
    canvas.line({at, frame.top}, {at, frame.bottom}, Ink::grid);
    if (at - half > last_right + 4) {
      canvas.text({at, frame.bottom + 17}, tick.label, Ink::faint, Anchor::middle);
      last_right = at + half;
    }
  }
  canvas.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, Ink::axis);
  canvas.line({frame.left, frame.top}, {frame.left, frame.bottom}, Ink::axis);
  canvas.text({(frame.left + frame.right) / 2, frame.bottom + 36}, titles.x, Ink::text, Anchor::middle);
  if (!titles.y.empty()) {
    canvas.vertical_text({18, (frame.top + frame.bottom) / 2}, titles.y, Ink::text);
  }
}

}  // namespace apo::report::svg
