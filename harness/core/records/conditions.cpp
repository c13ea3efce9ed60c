// harness/core/records/conditions.cpp - the words of the conditions.
#include "harness/core/records/conditions.h"

#include "harness/core/words.h"

namespace apo {

std::string_view to_string(RoundStage stage) {
  return word_at("search, confirm, certify, sentinel, noise, gate, solo runs, second look",
                 static_cast<std::size_t>(stage));
}

CachePolicy checked_cache_policy(const std::string& word, const std::string& where) {
  return checked_value<CachePolicy>("cache policy", word, where);
}
LaunchForm checked_launch_form(const std::string& word, const std::string& where) {
  return checked_value<LaunchForm>("launch form", word, where);
}
Layout checked_layout(const std::string& word, const std::string& where) {
  return checked_value<Layout>("layout", word, where);
}

}  // namespace apo
