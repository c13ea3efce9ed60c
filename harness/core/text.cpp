// harness/core/text.cpp - splits, parses, finds nearest names, formats numbers with units.
#include "harness/core/text.h"

#include <cxxabi.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

namespace apo {
namespace {

bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours (Damerau 1964).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) {
      return parts;
    }
    start = end + 1;
  }
}

std::vector<std::string> split_words(std::string_view text) {
  std::istringstream words{std::string(text)};
  return {std::istream_iterator<std::string>(words), {}};
}

std::string trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return std::string(text);
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> each_once(const std::vector<std::string>& texts) {
  std::vector<std::string> once;
  for (const std::string& text : texts) {
    if (std::find(once.begin(), once.end(), text) == once.end()) {
      once.push_back(text);
    }
  }
  return once;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? std::string_view() : separator);
    text += parts[i];
  }
  return text;
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return tail(1) ? 2 : 0;
  }
  if (first >= 0xe0 && first <= 0xef) {
    const bool legal = !(first == 0xe0 && byte(1) < 0xa0) && !(first == 0xed && byte(1) > 0x9f);
    return legal && tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool legal = !(first == 0xf0 && byte(1) < 0x90) && !(first == 0xf4 && byte(1) > 0x8f);
    return legal && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t eight = 0x80;
    if (end - at >= 8) {
      std::memcpy(&eight, at, sizeof eight);
    }
    if ((eight & 0x8080808080808080u) == 0) {  // most letters are ASCII: sources of all variants pass here
      at += 8;
      continue;
    }
    const bool is_ascii = static_cast<unsigned char>(*at) < 0x80;
    const std::size_t length = is_ascii ? 1 : utf8_length(std::string_view(at, end).substr(0, 4));
    if (length == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

std::size_t control_length(std::string_view text) {
  const auto is_between = [](std::string_view letters, std::string_view first, std::string_view last) {
    return letters >= first && letters <= last;
  };
  const auto c = static_cast<unsigned char>(text.empty() ? ' ' : text.front());
  if (c >= 0x20 && c < 0x7f) {
    return 0;
  }
  if (c < 0x20 || c == 0x7f) {
    return 1;
  }
  if (is_between(text.substr(0, 2), "\xc2\x80", "\xc2\x9f") || text.starts_with("\xd8\x9c")) {
    return 2;
  }
  const std::string_view three = text.substr(0, 3);
  return is_between(three, "\xe2\x80\x8b", "\xe2\x80\x8f") || is_between(three, "\xe2\x80\xa8", "\xe2\x80\xae") ||
                 is_between(three, "\xe2\x81\xa0", "\xe2\x81\xaf") || three == "\xef\xbb\xbf"
             ? 3
             : 0;
}

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t control = control_length(text);
    line += control > 0 ? ' ' : text.front();
    text.remove_prefix(std::max<std::size_t>(control, 1));
  }
  return line;
}

std::string clean_lines(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t control = text.front() == '\n' || text.front() == '\t' ? 0 : control_length(text);
    const std::size_t length = utf8_length(text.substr(0, 4));
    clean += control > 0 ? " " : length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>({control, length, 1}));
  }
  return clean;
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return is_letter_of_word(c) || (c & '\x80') != 0 || std::string_view("-./:=,+@%").find(c) != std::string_view::npos;
  });
  return plain ? std::string(word) : "'" + replace_all(std::string(word), "'", "'\\''") + "'";
}

std::string as_quotation(std::string_view text) {
  std::string quotation;
  for (const std::string& line : text.empty() ? std::vector<std::string>() : split(trim(text), '\n')) {
    quotation += "  " + line + "\n";
  }
  return quotation;
}

std::string cut_middle(std::string_view text, std::string_view dots,
                       const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> characters;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(characters.back().size())) {
    characters.emplace_back(rest.substr(0, std::max<std::size_t>(1, utf8_length(rest.substr(0, 4)))));
  }
  std::string result(text);
  for (std::size_t kept = characters.size(); kept > 0 && !fits(result); --kept) {
    const auto head = characters.begin() + static_cast<std::ptrdiff_t>(kept / 2);
    const auto tail = characters.end() - static_cast<std::ptrdiff_t>((kept - 1) / 2);
    result = join({characters.begin(), head}, "") + std::string(dots) + join({tail, characters.end()}, "");
  }
  return fits(result) ? result : "";
}

bool is_letter_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_letter_of_word);
}

bool has_word(std::string_view text, std::string_view word) {
  const auto in_word = [&](std::size_t at) { return at < text.size() && is_letter_of_word(text[at]); };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (!in_word(at - 1) && !in_word(at + word.size())) {  // before the first letter: past the end
      return true;
    }
  }
  return false;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) {
      return std::nullopt;
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    double seconds;
  };
  // "ms" before "s" and "m": the first suffix that fits wins.
  static constexpr std::array<Unit, 4> kUnits = {{{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}};
  for (const Unit& unit : kUnits) {
    if (text.size() >= unit.suffix.size() && text.substr(text.size() - unit.suffix.size()) == unit.suffix) {
      const auto value = parse_double(text.substr(0, text.size() - unit.suffix.size()));
      if (!value || *value <= 0 || *value * unit.seconds > 1e9) {
        return std::nullopt;
      }
      return *value * unit.seconds;
    }
  }
  return std::nullopt;
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& other : names) {
    const std::size_t distance = edit_distance(name, other);
    if (distance < best_distance) {
      best_distance = distance;
      best = other;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  const std::string best = nearest(name, names);
  return best.empty() ? "" : "did you mean '" + best + "'?";
}

std::string format_ns(double nanoseconds) {
  if (!std::isfinite(nanoseconds)) {
    return "not measured";
  }
  if (nanoseconds < 1e3) {
    return fmt::format("{:.3g} ns", nanoseconds);
  }
  if (nanoseconds < 1e6) {
    return fmt::format("{:.4g} us", nanoseconds / 1e3);
  }
  if (nanoseconds < 1e9) {
    return fmt::format("{:.4g} ms", nanoseconds / 1e6);
  }
  return fmt::format("{:.4g} s", nanoseconds / 1e9);
}

std::string format_seconds(double seconds) {
  if (seconds < 0.95) {
    return fmt::format("{:.0f} ms", seconds * 1e3);
  }
  if (seconds < 59.95) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<long>(std::lround(seconds));
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string format_si(double value, std::string_view unit) {
  static constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (std::fabs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {  // which three digits would round to 1e+03
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g} {}{}", value, kPrefixes.at(prefix), unit);
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 2, kUnits.at(unit));
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) {
    return "not measured";
  }
  const double size = std::fabs(ratio);
  return fmt::format("{:.{}f}x", ratio, size < 10 ? 2 : size < 100 ? 1 : 0);
}

// Beyond twofold a percentage hides the factor: "+3457 %" is 35.6x.
std::string format_percent(double log_effect, int decimals) {
  return std::fabs(log_effect) > std::log(2.0) && std::isfinite(log_effect)
             ? format_ratio(std::exp(log_effect))
             : fmt::format("{:+.{}f} %", 100 * std::expm1(log_effect), decimals);
}

// Two digits, but never an exponent.
std::string format_share(double share) {
  const double percent = 100 * share;
  return std::fabs(percent) < 99.5 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string format_g(double value, int significant) {
  return fmt::format("{:.{}g}", value, significant);
}

std::string format_element(double value) {
  constexpr double kMost = 1e15;
  return std::trunc(value) == value && std::fabs(value) < kMost ? fmt::format("{:.0f}", value) : format_g(value, 6);
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

std::string utc_now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace apo
