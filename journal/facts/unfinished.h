// journal/facts/unfinished.h - finds the rows that a killed process left open, and closes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/words.h"

namespace apo {

class Journal;

// A row that a killed process left open.
enum class UnfinishedKind : std::uint8_t { experiment, iteration, campaign, comparison };
APO_WORDS(UnfinishedKind, unfinished_kind_from, experiment, iteration, campaign, comparison)

struct Unfinished {
  using Kind = UnfinishedKind;
  Kind kind = Kind::experiment;
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  std::string what;  // "experiment 12: e88_backward/simple[K=2]"
  std::string started_at;
  int rounds = 0;  // already measured, for an experiment or a comparison
};

std::vector<Unfinished> all_unfinished(Journal& journal);
// "process 4711" when one that lives works on it.
std::optional<std::string> who_works_on(Journal& journal, const Unfinished& what);
// Unfinished experiments that nobody works on; the next command that judges marks them abandoned.
std::vector<Unfinished> interrupted_experiments(Journal& journal);
// A comparison gets the verdict inconclusive (interrupted).
void mark_abandoned(Journal& journal, const Unfinished& what, const std::string& why);

}  // namespace apo
