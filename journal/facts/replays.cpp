// journal/facts/replays.cpp - links experiments to the older ones that they repeat.
#include "journal/facts/replays.h"

#include "journal/columns.h"
#include "journal/facts/experiments.h"

namespace apo {

APO_COLUMNS(ReplayRow, experiment, original, kind, at)

std::int64_t begin_replay(Journal& journal, const Experiment& experiment, std::int64_t original, ReplayRow::Kind kind) {
  Transaction transaction(database_of(journal));
  const std::int64_t id = begin_experiment(journal, experiment);
  insert_row(journal, "replay", ReplayRow{id, original, kind, utc_now()});
  transaction.commit();
  return id;
}

std::optional<ReplayRow> find_replay(Journal& journal, std::int64_t experiment) {
  return first_of(read_rows<ReplayRow>(journal, "replay WHERE experiment = ?", {experiment}));
}

std::vector<ReplayRow> replays_of(Journal& journal, std::int64_t original) {
  return read_rows<ReplayRow>(journal, "replay WHERE original = ? ORDER BY experiment", {original});
}

std::vector<std::int64_t> judged_originals(Journal& journal) {
  return database_of(journal).integers(
      "SELECT experiment FROM judgement WHERE experiment NOT IN (SELECT experiment FROM replay) ORDER BY experiment");
}

}  // namespace apo
