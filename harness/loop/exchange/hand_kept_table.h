// harness/loop/exchange/hand_kept_table.h - reads a hand-kept journal as a table of text.
#pragma once

#include <filesystem>
#include <string>

#include "harness/core/hand_kept/hand_kept.h"

namespace apo {

// Reads the format of docs/journal.md: a first line "# hand-kept journal: TITLE", a line with the names of the columns,
// then a row a line; fields are separated by tabs, and lines that begin with '#' are comments. Throws UserError with
// `file`, the line, the column, and what is wrong there.
HandKeptJournal parse_hand_kept(const std::string& text, const std::string& file);
HandKeptJournal read_hand_kept(const std::filesystem::path& file);

}  // namespace apo
