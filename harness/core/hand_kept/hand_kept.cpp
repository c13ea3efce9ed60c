// harness/core/hand_kept/hand_kept.cpp - the numbers of hand-kept journals, as logs of speed-ups.
#include "harness/core/hand_kept/hand_kept.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "harness/core/text.h"
#include "harness/core/words.h"

namespace apo {
namespace {

constexpr EnumWords<HandKeptScope, 4> kScopes = {{{HandKeptScope::unsaid, ""},
                                                  {HandKeptScope::kernel, "kernel"},
                                                  {HandKeptScope::layer, "layer"},
                                                  {HandKeptScope::step, "step"}}};
constexpr EnumWords<HandKeptQuantity, 8> kQuantities = {{{HandKeptQuantity::unsaid, ""},
                                                         {HandKeptQuantity::time, "time"},
                                                         {HandKeptQuantity::throughput, "throughput"},
                                                         {HandKeptQuantity::speed, "speed"},
                                                         {HandKeptQuantity::loss, "loss"},
                                                         {HandKeptQuantity::share, "share"},
                                                         {HandKeptQuantity::count, "count"},
                                                         {HandKeptQuantity::size, "size"}}};

double log_speedup(double number, bool percent) {
  return std::log(percent ? 1 + number / 100 : number);
}

bool is_percent(const StatedNumber& change) {
  return change.text.ends_with('%');
}

std::string finding_of_numbers(const HandKeptRow& row) {
  const std::string unit = row.unit.empty() ? "" : " " + row.unit;
  return row.before.text.empty()  ? row.after.text + unit
         : row.after.text.empty() ? row.before.text + unit
                                  : row.before.text + " -> " + row.after.text + unit;
}

}  // namespace

std::string_view to_string(HandKeptScope scope) {
  return word_of(kScopes, scope);
}

std::string_view to_string(HandKeptQuantity quantity) {
  return word_of(kQuantities, quantity);
}

std::optional<HandKeptScope> hand_kept_scope_from(std::string_view word) {
  return value_of(kScopes, word);
}

std::optional<HandKeptQuantity> hand_kept_quantity_from(std::string_view word) {
  return value_of(kQuantities, word);
}

std::optional<StatedNumber> stated_number(std::string_view text, bool change) {
  std::string_view number = text;
  if (change) {
    if (!text.ends_with(" %") && !text.ends_with(" x")) {
      return std::nullopt;
    }
    number.remove_suffix(2);
  }
  number.remove_prefix(number.starts_with('~') ? 1 : 0);
  const std::size_t dots = number.find("..");
  const auto low = parse_double(number.substr(0, dots));
  const auto high = dots == std::string_view::npos ? low : parse_double(number.substr(dots + 2));
  if (!low || !high || *low > *high || (change && !std::isfinite(log_speedup(*low, text.ends_with('%'))))) {
    return std::nullopt;
  }
  return StatedNumber{.low = *low, .high = *high, .text = std::string(text)};
}

StatedBand band_of(const StatedNumber& change) {
  return {log_speedup(change.low, is_percent(change)), log_speedup(change.high, is_percent(change))};
}

std::optional<StatedBand> measured_effect(const HandKeptRow& row) {
  const bool time = row.quantity == HandKeptQuantity::time;
  if (!time && row.quantity != HandKeptQuantity::throughput && row.quantity != HandKeptQuantity::speed) {
    return std::nullopt;
  }
  if (!row.before.text.empty() && !row.after.text.empty()) {
    const StatedNumber& slow = time ? row.after : row.before;
    const StatedNumber& fast = time ? row.before : row.after;
    return StatedBand{std::log(fast.low / slow.high), std::log(fast.high / slow.low)};
  }
  return row.change.text.empty() ? std::nullopt : std::optional(band_of(row.change));
}

std::optional<StatedBand> predicted_effect(const HandKeptRow& row) {
  return row.predicted.text.empty() ? std::nullopt : std::optional(band_of(row.predicted));
}

double middle(const StatedBand& band) {
  return 0.5 * (band.low + band.high);
}

std::string place_of(const HandKeptJournal& journal, const HandKeptRow& row) {
  return fmt::format("{}, line {}", journal.title, row.line);
}

std::string finding_of(const HandKeptRow& row) {
  std::vector<std::string> parts;
  if (const std::string numbers = finding_of_numbers(row); !row.before.text.empty() || !row.after.text.empty()) {
    parts.push_back(numbers);
  }
  if (!row.change.text.empty()) {
    parts.push_back(row.change.text);
  }
  if (!row.predicted.text.empty()) {
    parts.push_back(row.predicted.text + " promised");
  }
  return join(parts, ", ");
}

}  // namespace apo
