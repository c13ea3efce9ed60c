// harness/core/records/conditions.cpp - the words of the conditions.
#include "harness/core/records/conditions.h"

#include "harness/core/words.h"

namespace apo {
namespace {

constexpr EnumWords<RoundStage, 8> kStages = {{{RoundStage::search, "search"},
                                               {RoundStage::confirm, "confirm"},
                                               {RoundStage::certify, "certify"},
                                               {RoundStage::sentinel, "sentinel"},
                                               {RoundStage::noise, "noise"},
                                               {RoundStage::gate, "gate"},
                                               {RoundStage::solo_runs, "solo runs"},
                                               {RoundStage::second_look, "second look"}}};

}  // namespace

std::string_view to_string(RoundStage stage) {
  return word_of(kStages, stage);
}
std::optional<RoundStage> round_stage_from(std::string_view word) {
  return value_of(kStages, word);
}

CachePolicy checked_cache_policy(const std::string& word, const std::string& where) {
  return checked_value<CachePolicy>("cache policy", word, where);
}
Layout checked_layout(const std::string& word, const std::string& where) {
  return checked_value<Layout>("layout", word, where);
}

}  // namespace apo
