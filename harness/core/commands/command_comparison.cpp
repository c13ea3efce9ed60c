// harness/core/commands/command_comparison.cpp - the words of a judgement of two commands.
#include "harness/core/commands/command_comparison.h"

#include "harness/core/words.h"

namespace apo {
namespace {

constexpr EnumWords<CommandPurpose, 2> kPurposes = {
    {{CommandPurpose::compare, "compare"}, {CommandPurpose::gate, "gate"}}};

}  // namespace

std::string_view to_string(CommandPurpose purpose) {
  return word_of(kPurposes, purpose);
}

std::optional<CommandPurpose> command_purpose_from(std::string_view word) {
  return value_of(kPurposes, word);
}

std::string verdict_word(const CommandComparison& comparison) {
  if (!comparison.judgement) {
    return "";
  }
  return std::string(comparison.gate ? to_string(*comparison.gate) : to_string(comparison.judgement->verdict));
}

std::string reason_word(const CommandComparison& comparison) {
  return comparison.judgement && !comparison.gate ? std::string(to_string(comparison.judgement->reason)) : "";
}

std::string correctness_text(const CommandComparison& comparison) {
  return comparison.correct.empty() ? "Correctness was not checked."
                                    : "Correctness was checked by '" + comparison.correct + "' alone.";
}

}  // namespace apo
