// reports/plots/svg.cpp - the canvas: elements, theme, numbers and widths of text.
#include "reports/plots/svg.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/text.h"
#include "reports/formats/escape.h"
#include "reports/numbers.h"

namespace apo::report::svg {
namespace {

// Okabe and Ito's palette: told apart by people with any colour vision; shapes say the same once more.
// The data's colours stand 3:1 on both grounds, so only text, grid and ground change with the theme.
constexpr std::string_view kStyle = R"(<style>
.apo-plot{font-family:"DejaVu Sans",Verdana,"Segoe UI",sans-serif;font-size:12px}
.apo-ground{fill:#ffffff}.apo-text{fill:#24292f}.apo-faint{fill:#57606a}
.apo-axis{stroke:#57606a;fill:none}.apo-grid{stroke:#d8dee4;fill:none}
.apo-accepted{stroke:#0072b2;fill:#0072b2}.apo-reverted{stroke:#d55e00;fill:#d55e00}
.apo-inconclusive{stroke:#808080;fill:#ffffff}.apo-band{fill:#009e73;fill-opacity:0.25;stroke:none}
.apo-step{stroke:#0072b2;fill:none;stroke-width:2}.apo-floor{stroke:#009e73;fill:none;stroke-width:2}
.apo-roof{stroke:#808080;fill:none;stroke-width:1.5}.apo-claim{stroke:#009e73;fill:#009e73}
.apo-bold{font-weight:bold;font-size:14px}
@media (prefers-color-scheme:dark){
.apo-ground{fill:#0d1117}.apo-text{fill:#e6edf3}.apo-faint{fill:#9da7b1}
.apo-axis{stroke:#9da7b1}.apo-grid{stroke:#2d333b}.apo-inconclusive{fill:#0d1117}
}
</style>
)";

std::string class_of(Ink ink) {
  return "apo-" + std::string(to_string(ink));
}

bool finite(Point point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + number(value) + "\"";
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escape_xml(value) + "\"";
}

std::string points_text(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    text += (text.empty() ? "" : " ") + number(point.x) + "," + number(point.y);
  }
  return text;
}

}  // namespace

std::string number(double value) {
  std::string text = fixed(value, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double font_px) {
  double ems = 0;
  for (std::size_t i = 0; i < text.size(); i += std::max<std::size_t>(utf8_length(text.substr(i, 4)), 1)) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0xE3) {
      ems += 1.1;  // East Asian scripts and emoji
    } else if (std::string_view("mwMW@%").find(text[i]) != std::string_view::npos) {
      ems += 1.0;
    } else if (std::string_view("iljtf.,:;|!' ()[]/").find(text[i]) != std::string_view::npos) {
      ems += 0.42;
    } else {
      ems += c >= 'A' && c <= 'Z' ? 0.78 : 0.64;
    }
  }
  return ems * font_px;
}

std::string shorten(std::string_view text, double width, double font_px) {
  constexpr const char* kEllipsis = "\xE2\x80\xA6";
  return cut_middle(one_line(text), kEllipsis,
                    [&](const std::string& line) { return text_width(line, font_px) <= width; });
}

Canvas::Canvas(double width, double height, std::string title, std::string description)
    : width_(width), height_(height), title_(std::move(title)), description_(std::move(description)) {
  text({16, 22}, title_, Ink::text);
  const std::size_t tag = body_.find("class=\"apo-text\"");
  body_.replace(tag, std::string_view("class=\"apo-text\"").size(), "class=\"apo-text apo-bold\"");
}

void Canvas::add(std::string_view element, const std::string& attributes, std::string_view tooltip) {
  body_ += "<" + std::string(element) + attributes;
  body_ += tooltip.empty() ? "/>\n"
                           : "><title>" + escape_xml(one_line(tooltip)) + "</title></" + std::string(element) + ">\n";
}

void Canvas::line(Point from, Point to, Ink ink, bool dashed, std::string_view tooltip) {
  if (finite(from) && finite(to)) {
    add("line",
        attribute("class", class_of(ink)) + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) +
            attribute("y2", to.y) + (dashed ? " stroke-dasharray=\"5 4\"" : ""),
        tooltip);
  }
}

void Canvas::polyline(const std::vector<Point>& points, Ink ink, std::string_view tooltip) {
  if (points.size() > 1 && std::all_of(points.begin(), points.end(), finite)) {
    add("polyline", attribute("class", class_of(ink)) + attribute("points", points_text(points)), tooltip);
  }
}

void Canvas::bar(Box box, Ink ink, std::string_view tooltip) {
  if (finite({box.left, box.top}) && finite({box.right, box.bottom}) && box.right >= box.left &&
      box.bottom >= box.top) {
    add("rect",
        attribute("class", class_of(ink)) + attribute("x", box.left) + attribute("y", box.top) +
            attribute("width", box.right - box.left) + attribute("height", box.bottom - box.top),
        tooltip);
  }
}

void Canvas::mark(Shape shape, Point at, Ink ink, std::string_view tooltip) {
  if (!finite(at)) {
    return;
  }
  const std::string colour = attribute("class", class_of(ink));
  const double r = 4.5;
  switch (shape) {
    case Shape::circle:
      add("circle", colour + attribute("cx", at.x) + attribute("cy", at.y) + attribute("r", r), tooltip);
      break;
    case Shape::square:
      add("rect",
          colour + attribute("x", at.x - r) + attribute("y", at.y - r) + attribute("width", 2 * r) +
              attribute("height", 2 * r),
          tooltip);
      break;
    case Shape::diamond: {
      const std::vector<Point> corners = {
          {at.x, at.y - r - 1.5}, {at.x + r + 1.5, at.y}, {at.x, at.y + r + 1.5}, {at.x - r - 1.5, at.y}};
      add("polygon", colour + attribute("points", points_text(corners)), tooltip);
      break;
    }
    case Shape::cross:
      add("path",
          colour + " stroke-width=\"2.5\" d=\"M" + number(at.x - r) + " " + number(at.y - r) + "l9 9m0 -9l-9 9\"",
          tooltip);
      break;
  }
}

void Canvas::text(Point at, std::string_view text, Ink ink, Anchor anchor, std::string_view tooltip) {
  if (!finite(at) || text.empty()) {
    return;
  }
  const std::string_view side = anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
  body_ += "<text" + attribute("class", class_of(ink)) + attribute("x", at.x) + attribute("y", at.y) +
           attribute("text-anchor", side) + ">" +
           (tooltip.empty() ? "" : "<title>" + escape_xml(one_line(tooltip)) + "</title>") +
           escape_xml(one_line(text)) + "</text>\n";
}

void Canvas::vertical_text(Point at, std::string_view text, Ink ink) {
  if (finite(at)) {
    body_ += "<text" + attribute("class", class_of(ink)) + " transform=\"translate(" + number(at.x) + " " +
             number(at.y) + ") rotate(-90)\" text-anchor=\"middle\">" + escape_xml(one_line(text)) + "</text>\n";
  }
}

std::string Canvas::finish() const {
  const std::string size = number(width_) + " " + number(height_);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"apo-plot\" role=\"img\" viewBox=\"0 0 " + size + "\"" +
         attribute("width", width_) + attribute("height", height_) + ">\n<title>" + escape_xml(one_line(title_)) +
         "</title>\n<desc>" + escape_xml(one_line(description_)) + "</desc>\n" + std::string(kStyle) +
         "<rect class=\"apo-ground\" width=\"100%\" height=\"100%\"/>\n" + body_ + "</svg>\n";
}

}  // namespace apo::report::svg
