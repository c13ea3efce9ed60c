// harness/cli/bring/hand_kept_text.h - rows of hand-kept journals as lessons, and what they contradict each other in.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/core/hand_kept/hand_kept.h"
#include "harness/research/memory/contradictions.h"

namespace apo {

// Drops the rows that are not `wanted`, and the journals that have none left.
std::vector<HandKeptJournal> only_rows(std::vector<HandKeptJournal> journals,
                                       const std::function<bool(const HandKeptRow&)>& wanted);

// Prints each document's findings by set of techniques, with the lines; "" without any.
std::string hand_kept_text(const std::vector<HandKeptJournal>& journals);
// One sentence a line under a title; "" without any.
std::string contradictions_text(const std::vector<Contradiction>& contradictions);

nlohmann::ordered_json hand_kept_documents(const std::vector<HandKeptJournal>& journals);  // one object a row
nlohmann::ordered_json to_documents(const std::vector<Contradiction>& contradictions);

}  // namespace apo
