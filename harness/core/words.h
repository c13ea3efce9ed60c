// harness/core/words.h - the words of an enum, as the journal, the command line and the documents write them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {

template <class Enum, std::size_t Size>
using EnumWords = std::array<std::pair<Enum, std::string_view>, Size>;

// Returns "?" for a value without a word.
template <class Enum, std::size_t Size>
constexpr std::string_view word_of(const EnumWords<Enum, Size>& words, Enum value) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& entry) { return entry.first == value; });
  return found == words.end() ? "?" : found->second;
}

template <class Enum, std::size_t Size>
constexpr std::optional<Enum> value_of(const EnumWords<Enum, Size>& words, std::string_view word) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& entry) { return entry.second == word; });
  return found == words.end() ? std::nullopt : std::optional(found->first);
}

// Converts a word that a person wrote. Throws UserError that names `what` was read ("layout") and the nearest valid
// word; `where` is "" or a place such as " in campaign.json:3".
template <class Enum, std::size_t Size>
Enum checked_value(const EnumWords<Enum, Size>& words, const std::string& what, const std::string& word,
                   const std::string& where) {
  if (const auto value = value_of(words, word)) {
    return *value;
  }
  std::vector<std::string> known;
  for (const auto& [value, name] : words) {
    known.emplace_back(name);
  }
  const std::string guess = did_you_mean(word, known);
  throw UserError("unknown " + what + " '" + word + "'" + where,
                  (guess.empty() ? "" : guess + "  ") + "known: " + join(known, ", "));
}

}  // namespace apo
