// journal/facts/replays.cpp - links experiments to the older ones that they repeat.
#include "journal/implementation.h"

namespace apo {
namespace {

std::vector<ReplayRow> replays(Database& database, std::string_view column, std::int64_t id) {
  std::vector<ReplayRow> result;
  Statement rows = database.query(
      "SELECT experiment, original, kind, at FROM replay WHERE " + std::string(column) + " = ? ORDER BY experiment",
      {id});
  while (rows.step()) {
    ReplayRow row{.experiment = rows.integer(), .original = rows.integer()};
    row.kind = rows.text() == "confirm" ? ReplayRow::Kind::confirm : ReplayRow::Kind::replay;
    row.at = rows.text();
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace

std::int64_t Journal::begin_replay(const Experiment& experiment, std::int64_t original, ReplayRow::Kind kind) {
  Transaction transaction(self_->database);
  const std::int64_t id = begin_experiment(experiment);
  self_->database.run("INSERT INTO replay (experiment, original, kind, at) VALUES (?, ?, ?, ?)",
                      {id, original, kind == ReplayRow::Kind::confirm ? "confirm" : "replay", time_or_now("")});
  transaction.commit();
  return id;
}

std::optional<ReplayRow> Journal::replay(std::int64_t experiment) {
  const std::vector<ReplayRow> found = replays(self_->database, "experiment", experiment);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<ReplayRow> Journal::replays_of(std::int64_t original) {
  return replays(self_->database, "original", original);
}

std::vector<std::int64_t> Journal::judged_originals() {
  std::vector<std::int64_t> ids;
  Statement rows = self_->database.query(
      "SELECT experiment FROM judgement WHERE experiment NOT IN (SELECT experiment FROM replay) ORDER BY experiment");
  while (rows.step()) {
    ids.push_back(rows.integer());
  }
  return ids;
}

}  // namespace apo
