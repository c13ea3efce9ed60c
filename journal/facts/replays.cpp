// journal/facts/replays.cpp - links experiments to the older ones that they repeat.
#include "journal/columns.h"

namespace apo {

std::int64_t Journal::begin_replay(const Experiment& experiment, std::int64_t original, ReplayRow::Kind kind) {
  Transaction transaction(self_->database);
  const std::int64_t id = begin_experiment(experiment);
  insert_row(*self_, "replay", ReplayRow{id, original, kind, utc_now()});
  transaction.commit();
  return id;
}

std::optional<ReplayRow> Journal::replay(std::int64_t experiment) {
  return first_of(read_rows<ReplayRow>(*self_, "replay WHERE experiment = ?", {experiment}));
}

std::vector<ReplayRow> Journal::replays_of(std::int64_t original) {
  return read_rows<ReplayRow>(*self_, "replay WHERE original = ? ORDER BY experiment", {original});
}

std::vector<std::int64_t> Journal::judged_originals() {
  return self_->database.integers(
      "SELECT experiment FROM judgement WHERE experiment NOT IN (SELECT experiment FROM replay) ORDER BY experiment");
}

}  // namespace apo
