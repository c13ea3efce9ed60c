// harness/research/memory/contradictions.cpp - puts rows about the same thing side by side.
#include "harness/research/memory/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "harness/core/text.h"
#include "harness/core/words.h"

namespace apo {
namespace {

constexpr double kLeastApart = 0.01;  // in logs: below this no journal without intervals can tell anything apart
constexpr double kTimesApart = 1.2;
constexpr double kRounding = 0.02;  // of a change beside its two numbers: "10.4 % faster" may be 10.4 % less time

constexpr EnumWords<ContradictionKind, 6> kContradictionKinds = {{{ContradictionKind::effects, "effects"},
                                                                  {ContradictionKind::numbers, "numbers"},
                                                                  {ContradictionKind::devices, "devices"},
                                                                  {ContradictionKind::verdicts, "verdicts"},
                                                                  {ContradictionKind::left_in, "left_in"},
                                                                  {ContradictionKind::arithmetic, "arithmetic"}}};

struct Place {
  const HandKeptJournal* journal = nullptr;
  const HandKeptRow* row = nullptr;
};

using Group = std::vector<Place>;

Group all_rows(const std::vector<HandKeptJournal>& journals) {
  Group all;
  for (const HandKeptJournal& journal : journals) {
    for (const HandKeptRow& row : journal.rows) {
      all.push_back({&journal, &row});
    }
  }
  return all;
}

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::ranges::sort(words);
  return words;
}

// They state an axis in common or none at all, and none differs.
bool same_sizes(const HandKeptRow& a, const HandKeptRow& b) {
  if (a.quantity == HandKeptQuantity::loss) {
    return a.axes == b.axes;
  }
  int common = 0;
  for (const auto& [name, value] : a.axes) {
    const auto other = b.axes.find(name);
    if (other != b.axes.end() && other->second != value) {
      return false;
    }
    common += other != b.axes.end() ? 1 : 0;
  }
  return common > 0 || (a.axes.empty() && b.axes.empty());
}

// Rows with equal keys, and among them those of the same sizes.
template <class Key>
std::vector<Group> groups_of(const Group& rows, const Key& key) {
  std::map<decltype(key(*rows.front().row)), std::vector<Group>> groups;
  for (const Place& one : rows) {
    std::vector<Group>& of_key = groups[key(*one.row)];
    const auto found = std::ranges::find_if(of_key, [&](const Group& group) {
      return std::ranges::all_of(group, [&](const Place& other) { return same_sizes(*other.row, *one.row); });
    });
    if (found == of_key.end()) {
      of_key.push_back({one});
    } else {
      found->push_back(one);
    }
  }
  std::vector<Group> several;
  for (const auto& [shared, of_key] : groups) {
    std::ranges::copy_if(of_key, std::back_inserter(several), [](const Group& group) { return group.size() > 1; });
  }
  return several;
}

Group filtered(const Group& rows, const std::function<bool(const HandKeptRow&)>& wanted) {
  Group some;
  std::ranges::copy_if(rows, std::back_inserter(some), [&](const Place& one) { return wanted(*one.row); });
  return some;
}

// "E88 journal, lines 841 and 1160": documents in their order.
std::string places_of(const Group& group) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < group.size();) {
    std::vector<std::string> lines;
    const HandKeptJournal* journal = group[i].journal;
    for (; i < group.size() && group[i].journal == journal; ++i) {
      lines.push_back(std::to_string(group[i].row->line));
    }
    lines = each_once(lines);
    texts.push_back(journal->title + (lines.size() == 1 ? ", line " : ", lines ") + join(lines, ", "));
  }
  return join(texts, "; ");
}

Contradiction contradiction(ContradictionKind kind, const Group& group, const std::string& what) {
  Contradiction found{.kind = kind, .sentence = fmt::format("{} ({})", what, places_of(group))};
  for (const Place& one : group) {
    found.lines.push_back(place_of(*one.journal, *one.row));
  }
  return found;
}

std::string subject_of(const HandKeptRow& row) {
  std::vector<std::string> words;
  for (const auto& [name, value] : row.axes) {
    words.push_back(fmt::format("{}={}", name, value));
  }
  const std::string scope =
      row.scope == HandKeptScope::unsaid ? "" : fmt::format(", {}", std::string(to_string(row.scope)));
  return row.subject + scope + (words.empty() ? "" : " (" + join(words, " ") + ")");
}

std::vector<Contradiction> different_effects(const Group& rows) {
  std::vector<Contradiction> found;
  const Group measured = filtered(
      rows, [](const HandKeptRow& row) { return !row.techniques.empty() && measured_effect(row).has_value(); });
  for (const Group& group : groups_of(measured, [](const HandKeptRow& row) {
         return std::tuple(row.device_deduced, row.subject, row.scope, sorted(row.techniques));
       })) {
    std::vector<double> effects;
    std::vector<std::string> words;
    for (const Place& one : group) {
      effects.push_back(middle(*measured_effect(*one.row)));
      words.push_back(one.row->change.text.empty() ? format_percent(effects.back(), 1) : one.row->change.text);
    }
    const auto [low, high] = std::ranges::minmax(effects);
    const double larger = std::max(std::fabs(low), std::fabs(high));
    if (high - low > std::max(kLeastApart, 0.5 * larger)) {
      found.push_back(contradiction(ContradictionKind::effects, group,
                                    fmt::format("{} of {}: {}", join(group.front().row->techniques, " + "),
                                                subject_of(*group.front().row), join(words, ", "))));
    }
  }
  return found;
}

// The number of a configuration that nothing was changed in.
const StatedNumber& state_of(const HandKeptRow& row) {
  return row.before.text.empty() && row.techniques.empty() ? row.after : row.before;
}

std::vector<Contradiction> different_numbers(const Group& rows) {
  std::vector<Contradiction> found;
  for (const Group& group :
       groups_of(filtered(rows, [](const HandKeptRow& row) { return !state_of(row).text.empty(); }),
                 [](const HandKeptRow& row) {
                   return std::tuple(row.device_deduced, row.subject, row.scope, row.quantity, row.unit);
                 })) {
    std::vector<std::string> words;
    double low = state_of(*group.front().row).low;
    double high = low;
    for (const Place& one : group) {
      words.push_back(state_of(*one.row).text);
      low = std::min(low, state_of(*one.row).low);
      high = std::max(high, state_of(*one.row).high);
    }
    const bool counted = group.front().row->quantity == HandKeptQuantity::count;
    if (counted ? high > low : high > kTimesApart * low) {
      const HandKeptRow& row = *group.front().row;
      found.push_back(contradiction(ContradictionKind::numbers, group,
                                    fmt::format("{} of {}: {}{}", std::string(to_string(row.quantity)), subject_of(row),
                                                join(each_once(words), ", "), row.unit.empty() ? "" : " " + row.unit)));
    }
  }
  return found;
}

std::vector<Contradiction> several_names(const Group& rows) {
  std::map<std::pair<std::string, std::string>, Group> devices;  // of a document
  for (const Place& one : rows) {
    if (!one.row->device_claimed.empty() && !one.row->device_deduced.empty()) {
      Group& names = devices[{one.journal->title, one.row->device_deduced}];
      if (std::ranges::none_of(
              names, [&](const Place& other) { return other.row->device_claimed == one.row->device_claimed; })) {
        names.push_back(one);
      }
    }
  }
  std::vector<Contradiction> found;
  for (const auto& [of_document, group] : devices) {
    if (group.size() > 1) {
      std::vector<std::string> names;
      for (const Place& one : group) {
        names.push_back(one.row->device_claimed);
      }
      found.push_back(contradiction(ContradictionKind::devices, group,
                                    fmt::format("one device under {} names: {}; it can only be {}", names.size(),
                                                join(names, ", "), of_document.second)));
    }
  }
  return found;
}

// The first row of each kind, of each set of techniques that has both.
std::vector<Contradiction> opposite(const Group& rows, ContradictionKind kind, const std::string& words,
                                    const std::function<bool(const HandKeptRow&)>& one_kind,
                                    const std::function<bool(const HandKeptRow&)>& other_kind) {
  std::map<std::vector<std::string>, std::pair<std::optional<Place>, std::optional<Place>>> both;
  for (const Place& one : filtered(rows, [](const HandKeptRow& row) { return !row.techniques.empty(); })) {
    auto& [first, second] = both[sorted(one.row->techniques)];
    first = !first && one_kind(*one.row) ? std::optional(one) : first;
    second = !second && other_kind(*one.row) ? std::optional(one) : second;
  }
  std::vector<Contradiction> found;
  for (const auto& [techniques, places] : both) {
    if (places.first && places.second) {
      found.push_back(contradiction(kind, {*places.first, *places.second},
                                    fmt::format("{} is {}", join(techniques, " + "), words)));
    }
  }
  return found;
}

bool is_reverted(const HandKeptRow& row) {
  return row.verdict == Verdict::reverted;
}

bool is_accepted(const HandKeptRow& row) {
  return row.verdict == Verdict::accepted;
}

bool is_in_code(const HandKeptRow& row) {
  return row.in_code.value_or(false);
}

std::vector<Contradiction> wrong_changes(const Group& rows) {
  std::vector<Contradiction> found;
  for (const Place& one : rows) {
    const HandKeptRow& row = *one.row;
    const std::optional<StatedBand> effect = measured_effect(row);
    if (effect && !row.change.text.empty() && !row.before.text.empty() && !row.after.text.empty()) {
      const StatedBand said = band_of(row.change);
      if (said.low > effect->high + kRounding || said.high < effect->low - kRounding) {
        found.push_back(
            contradiction(ContradictionKind::arithmetic, {one},
                          fmt::format("{}: {} -> {} {} is {}, not {}", subject_of(row), row.before.text, row.after.text,
                                      row.unit, format_percent(middle(*effect), 1), row.change.text)));
      }
    }
  }
  return found;
}

}  // namespace

std::string_view to_string(ContradictionKind kind) {
  return word_of(kContradictionKinds, kind);
}

std::vector<Contradiction> find_contradictions(const std::vector<HandKeptJournal>& journals) {
  const Group rows = all_rows(journals);
  std::vector<Contradiction> all;
  for (const auto& found :
       {different_effects(rows), different_numbers(rows), several_names(rows),
        opposite(rows, ContradictionKind::verdicts, "accepted, and reverted", is_accepted, is_reverted),
        opposite(rows, ContradictionKind::left_in, "reverted, and in the code", is_reverted, is_in_code),
        wrong_changes(rows)}) {
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace apo
