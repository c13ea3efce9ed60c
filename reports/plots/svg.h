// reports/plots/svg.h - a small plot writer: scales with nice ticks, marks told apart by shape and colour, labels that
// keep clear.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/outcome.h"

namespace apo::report::svg {

inline constexpr double kFontPx = 12;

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// Maps data to pixels. Both ends are finite and differ; a logarithmic scale has positive ends.
struct Scale {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  double pixel_low = 0;
  double pixel_high = 1;

  double operator()(double value) const;  // NaN for what the scale can't show
  bool contains(double value) const;
};

struct Tick {
  double value = 0;
  std::string label;
};

// Steps of 1, 2 or 5 times a power of ten, at least `least_step`.
std::vector<Tick> linear_ticks(double low, double high, int about, double least_step = 0);
std::vector<Tick> ratio_ticks(double low, double high, int about);  // "1.02x", for a logarithmic scale
std::vector<Tick> log_ticks(double low, double high,
                            std::string_view unit);  // decades, with 2 and 5 where there is room

// At most two decimals, no exponent, the same in every locale.
std::string number(double value);
double text_width(std::string_view text, double font_px = kFontPx);  // an upper bound for common sans-serif fonts
std::string shorten(std::string_view text, double width, double font_px = kFontPx);  // "e88_back…HUNK=16]"

enum class Shape { circle, square, diamond, cross };
enum class Anchor { start, middle, end };

// What an element is; the theme gives each its colours on light and on dark.
enum class Ink { text, faint, axis, grid, accepted, reverted, inconclusive, band, step, floor, roof, claim };
APO_WORDS(Ink, ink_named, text, faint, axis, grid, accepted, reverted, inconclusive, band, step, floor, roof, claim)

// Collects elements and prints them. An element with a coordinate that is not finite is left out.
class Canvas {
 public:
  Canvas(double width, double height, std::string title, std::string description);

  void line(Point from, Point to, Ink ink, bool dashed = false, std::string_view tooltip = "");
  void polyline(const std::vector<Point>& points, Ink ink, std::string_view tooltip = "");
  void bar(Box box, Ink ink, std::string_view tooltip = "");
  void mark(Shape shape, Point at, Ink ink, std::string_view tooltip = "");
  void text(Point at, std::string_view text, Ink ink, Anchor anchor = Anchor::start, std::string_view tooltip = "");
  void vertical_text(Point at, std::string_view text, Ink ink);  // reads upwards, centred
  std::string finish() const;

  double width() const { return width_; }
  double height() const { return height_; }

 private:
  void add(std::string_view element, const std::string& attributes, std::string_view tooltip);

  double width_;
  double height_;
  std::string title_;
  std::string description_;
  std::string body_;
};

// Keeps labels off marks, lines and each other.
class LabelPlacer {
 public:
  explicit LabelPlacer(Box frame) : frame_(frame) {}
  void occupy(Box box) { taken_.push_back(box); }
  void occupy_segment(Point from, Point to);
  // The first place beside `at`, or up to `max_rise` pixels further off, where the text fits, as its baseline start;
  // nullopt when there is none.
  std::optional<Point> place(Point at, std::string_view text, double max_rise = 54);

 private:
  bool is_free(const Box& box) const;

  Box frame_;
  std::vector<Box> taken_;
};

struct LegendEntry {
  std::optional<Shape> shape;  // none: a line, or a bar for Ink::band
  Ink ink = Ink::axis;
  bool dashed = false;
  std::string text;
};
// Entries from left to right, wrapped at `width`; returns the height that they took.
double draw_legend(Canvas& canvas, Point at, double width, const std::vector<LegendEntry>& entries);

// Shape and colour of a verdict, and these of all three for the legend.
struct Mark {
  Shape shape = Shape::circle;
  Ink ink = Ink::accepted;
};
Mark mark_of(Verdict verdict);
std::vector<LegendEntry> verdict_legend();

// The logs of what is plotted; what no measurement gives is left out.
struct LogRange {
  double low = 0;
  double high = 0;
  void include(double log);  // NaN is left out too
};

struct AxisTitles {
  std::string x;
  std::string y;
};
void draw_axes(Canvas& canvas, const Box& frame, const Scale& x, const Scale& y, const std::vector<Tick>& x_ticks,
               const std::vector<Tick>& y_ticks, const AxisTitles& titles);

}  // namespace apo::report::svg
