// harness/cli/trust/doctor_journal.cpp - `apo doctor --upgrade` and `--compact`: looks after the journal's file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/trust/doctor_check.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/compact.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::string upgraded_text(int from) {
  const int to = newest_journal_schema();
  return from == to ? fmt::format("it has the newest schema version, {}\n", to)
                    : fmt::format("upgraded from schema version {} to {}\n", from, to);
}

std::string compacted_text(const Compacted& done) {
  return fmt::format(
      "dropped the timed calls of {} rounds (their effects and medians stay) and {} rows of PC samples (one a line and "
      "state stays): {} before, {} now\n",
      done.rounds, done.sampled_rows, format_bytes(static_cast<double>(done.bytes_before)),
      format_bytes(static_cast<double>(done.bytes_after)));
}

}  // namespace

int look_after_journal(const Globals& globals, bool compacts) {
  const Paths paths = make_paths(globals.journal);
  const int from = journal_schema_of(paths.journal);
  Journal journal = Journal::open(paths.journal, Access::read_write);
  const Compacted done = compacts ? compact(journal) : Compacted{};
  nlohmann::ordered_json document = {
      {"journal", paths.journal.string()}, {"schema_before", from}, {"schema", newest_journal_schema()}};
  if (compacts) {
    document.update({{"rounds_without_calls", done.rounds},
                     {"sample_rows_dropped", done.sampled_rows},
                     {"bytes_before", done.bytes_before},
                     {"bytes", done.bytes_after}});
  }
  print_answer(globals, document,
               fmt::format("journal '{}': {}", paths.journal.string(), upgraded_text(from)) +
                   (compacts ? compacted_text(done) : ""));
  return kDone;
}

}  // namespace apo
