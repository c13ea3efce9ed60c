// harness/core/commands/command_comparison.h - one judgement of two commands, from what was asked to its verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/judgement.h"
#include "harness/core/words.h"

namespace apo {

enum class CommandPurpose : std::uint8_t {
  compare,  // is B better than A?
  gate,     // is B worse than A by more than a margin?
};
APO_WORDS(CommandPurpose, command_purpose_from, compare, gate)

// A is the incumbent and B the candidate of its rounds.
struct CommandComparison {
  std::int64_t id = 0;
  CommandPurpose purpose = CommandPurpose::compare;
  std::string command_a;  // as `sh -c` gets them
  std::string command_b;
  std::string folder;  // they run in
  std::string metric;  // as it was written: "gbench:NAME"
  bool higher_is_better = false;
  std::string correct;         // the command that checks each side; empty: nothing was checked
  double margin = 0;           // of a gate: log effect
  std::string judge = "auto";  // a preset, or auto: by an A/A run of A
  Layout layout = Layout::random;
  int runs = 1;          // of each command in a round, of which the best counts
  double timeout_s = 0;  // of a run; 0: from how long A takes
  double budget_s = 0;   // of all rounds; 0: none
  std::string machine;   // Machine::id
  std::string started_at;
  std::string finished_at;

  std::vector<Round> rounds;           // of the sentinel first
  Outcome outcome = Outcome::valid;    // of B
  std::optional<Judgement> judgement;  // absent while under way; of a gate without verdict and reason
  std::optional<GateVerdict> gate;     // of a gate, with the judgement
  double value_a = 0;                  // the typical metric over the rounds of the effect; 0 if there is none
  double value_b = 0;
  bool operator==(const CommandComparison&) const = default;
};

// "accepted", "regressed"; empty while there is none.
std::string verdict_word(const CommandComparison& comparison);
// "faster"; empty for a gate and while there is none.
std::string reason_word(const CommandComparison& comparison);
// Returns one sentence about the correctness of the two commands.
std::string correctness_text(const CommandComparison& comparison);

}  // namespace apo
