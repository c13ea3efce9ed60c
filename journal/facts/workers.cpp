// journal/facts/workers.cpp - writes workers and what they were given, and reads them.

#include "journal/facts/workers.h"

#include "journal/columns.h"

namespace apo {

// Read from `shown`, kShownWorkers.
APO_COLUMNS_AS(WorkerRow,
               "id, campaign, number, command, device, started_at, shown.machine_id, shown.reason, shown.note,"
               " shown.ended_at, shown.machine, shown.experiments, shown.lost, shown.seconds, shown.candidate,"
               " shown.busy_since",
               id, campaign, number, command, device, started_at, machine, end, note, ended_at, model, experiments,
               lost, busy_s, candidate, busy_since)
APO_COLUMNS_AS(Placement, "worker, iteration, idx, candidate, incumbent, predicted_low, predicted_high, started_at",
               worker, iteration, index, candidate, incumbent, prediction.low, prediction.high, started_at)
APO_COLUMNS(PlacementEnd, state, experiment, note, seconds)

namespace {

// The machines that judged for one campaign as this one did, and itself.
constexpr std::string_view kPeers =
    "WITH member AS (SELECT id AS campaign, machine FROM campaign UNION SELECT campaign, machine FROM worker"
    " WHERE machine IS NOT NULL) SELECT m.key FROM machine m WHERE m.id IN (SELECT b.machine FROM member b"
    " WHERE b.campaign IN (SELECT w.campaign FROM worker w) AND b.campaign IN (SELECT a.campaign FROM member a"
    " JOIN machine x ON x.id = a.machine WHERE x.key = ?1)) UNION SELECT ?1";

// What each judges now: an older placement that is open is an acceptance that waits for another device.
constexpr std::string_view kShownWorkers =
    "(SELECT w.*, nullif(w.state, 'open') AS reason, c.label AS candidate, p.started_at AS busy_since FROM workers w"
    " LEFT JOIN placement p ON p.id = (SELECT max(id) FROM placement WHERE worker = w.id)"
    " AND p.id NOT IN (SELECT placement FROM placement_end)"
    " LEFT JOIN configuration c ON c.id = p.candidate) AS shown WHERE ";

}  // namespace

std::string peers_of(Journal& journal, const std::string& machine) {
  return encode(database_of(journal).texts(kPeers, {machine}));
}

std::int64_t add_worker(Journal& journal, const WorkerRow& worker) {
  Transaction transaction(database_of(journal));
  const std::int64_t machine = worker.machine.empty() ? 0 : machine_row(journal, worker.machine);
  const std::int64_t id =
      insert_row(journal, "worker", worker,
                 {{"machine", Value::reference(machine)}, {"started_at", time_or_now(worker.started_at)}});
  transaction.commit();
  return id;
}

void end_worker(Journal& journal, std::int64_t worker, WorkerEnd reason, const std::string& note) {
  database_of(journal).run("INSERT INTO worker_end (worker, reason, note, ended_at) VALUES (?, ?, ?, ?)",
                           {worker, to_string(reason), note, utc_now()});
}

std::vector<WorkerRow> workers_of(Journal& journal, std::int64_t campaign) {
  return read_rows<WorkerRow>(journal, std::string(kShownWorkers) + "campaign = ? ORDER BY number, id", {campaign});
}

std::vector<std::int64_t> campaigns_with_workers(Journal& journal) {
  return database_of(journal).integers("SELECT DISTINCT campaign FROM worker ORDER BY campaign DESC");
}

double answers_an_hour(Journal& journal, std::int64_t campaign) {
  Statement row = database_of(journal).query(
      "SELECT sum(experiments), 24 * (julianday(max(coalesce(ended_at, ?))) - julianday(min(started_at))) FROM workers"
      " WHERE campaign = ?",
      {utc_now(), campaign});
  row.step();
  const double answers = row.real();
  const double hours = row.real();
  return hours > 0 ? answers / hours : 0;
}

std::int64_t begin_placement(Journal& journal, const Placement& placement) {
  Transaction transaction(database_of(journal));
  const std::int64_t id =
      insert_row(journal, "placement", placement, {{"started_at", time_or_now(placement.started_at)}});
  transaction.commit();
  return id;
}

void end_placement(Journal& journal, std::int64_t placement, const PlacementEnd& end) {
  insert_row(journal, "placement_end", end,
             {{"placement", placement}, {"experiment", Value::reference(end.experiment)}, {"ended_at", utc_now()}});
}

std::optional<WorkerRow> worker_of(Journal& journal, std::int64_t experiment) {
  return first_of(read_rows<WorkerRow>(
      journal,
      std::string(kShownWorkers) +
          "id = (SELECT worker FROM placement JOIN placement_end ON placement = placement.id WHERE experiment = ?)",
      {experiment}));
}

int end_interrupted_workers(Journal& journal, std::int64_t campaign) {
  Transaction transaction(database_of(journal));
  database_of(journal).run(
      "INSERT INTO placement_end (placement, state, experiment, note, seconds, ended_at)"
      " SELECT p.id, 'interrupted', NULL, 'the driver ended', 0, ? FROM placement p JOIN worker w ON w.id = p.worker"
      " WHERE w.campaign = ? AND p.id NOT IN (SELECT placement FROM placement_end)",
      {utc_now(), campaign});
  database_of(journal).run(
      "INSERT INTO worker_end (worker, reason, note, ended_at) SELECT id, 'driver_ended', '', ? FROM worker"
      " WHERE campaign = ? AND id NOT IN (SELECT worker FROM worker_end)",
      {utc_now(), campaign});
  const auto ended = static_cast<int>(database_of(journal).number("SELECT changes()"));
  transaction.commit();
  return ended;
}

}  // namespace apo
