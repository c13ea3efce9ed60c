// harness/core/words.h - the words of an enum, as the journal, the command line and the documents write them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {

// The word at that place of "first, second, third"; "?" behind the last one.
constexpr std::string_view word_at(std::string_view words, std::size_t place) {
  for (; place > 0 && !words.empty(); --place) {
    const std::size_t end = words.find(", ");
    words = end == std::string_view::npos ? "" : words.substr(end + 2);
  }
  return words.empty() ? "?" : words.substr(0, words.find(", "));
}

// The value of that word by its to_string(). The values count from 0.
template <class Enum>
constexpr std::optional<Enum> value_named(std::string_view word) {
  constexpr int kMost = 64;
  for (int i = 0; i < kMost && word != "?"; ++i) {
    if (to_string(static_cast<Enum>(i)) == word) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

template <class Enum, std::size_t Size>
constexpr bool count_from_zero(const std::array<Enum, Size>& values) {
  std::size_t next = 0;
  return std::all_of(values.begin(), values.end(),
                     [&](Enum value) { return static_cast<std::size_t>(value) == next++; });
}

// Compilers print a value of an enum that has no name as "(Enum)3".
template <auto Value>
constexpr bool has_name() {
  return std::string_view(__PRETTY_FUNCTION__).find("= (") == std::string_view::npos;
}

// Behind an enum whose words are the names of its values: to_string(), and its inverse under that name. It does not
// compile unless all values are listed, in their order.
#define APO_WORDS(Enum, from, ...)                                                      \
  constexpr std::string_view to_string(Enum value) {                                    \
    return apo::word_at(#__VA_ARGS__, static_cast<std::size_t>(value));                 \
  }                                                                                     \
  constexpr std::optional<Enum> from(std::string_view word) {                           \
    using enum Enum;                                                                    \
    static_assert(apo::count_from_zero(std::array{__VA_ARGS__}));                       \
    static_assert(!apo::has_name<static_cast<Enum>(std::array{__VA_ARGS__}.size())>()); \
    return apo::value_named<Enum>(word);                                                \
  }

template <class Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (int i = 0; to_string(static_cast<Enum>(i)) != "?"; ++i) {
    words.emplace_back(to_string(static_cast<Enum>(i)));
  }
  return words;
}

// Converts a word that a person wrote. Throws UserError that names `what` was read ("layout") and the nearest valid
// word; `where` is "" or a place such as " in campaign.json:3".
template <class Enum>
Enum checked_value(const std::string& what, const std::string& word, const std::string& where) {
  if (const auto value = value_named<Enum>(word)) {
    return *value;
  }
  const std::vector<std::string> known = words_of<Enum>();
  const std::string guess = did_you_mean(word, known);
  throw UserError("unknown " + what + " '" + word + "'" + where,
                  (guess.empty() ? "" : guess + "  ") + "known: " + join(known, ", "));
}

}  // namespace apo
