// journal/facts/workers.cpp - writes workers and what they were given, and reads them.
#include "journal/workers.h"

#include "harness/core/words.h"
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

constexpr EnumWords<WorkerEnd, 13> kWorkerEnds = {{{WorkerEnd::dismissed, "dismissed"},
                                                   {WorkerEnd::not_started, "not_started"},
                                                   {WorkerEnd::died, "died"},
                                                   {WorkerEnd::silent, "silent"},
                                                   {WorkerEnd::gave_back, "gave_back"},
                                                   {WorkerEnd::wrong_version, "wrong_version"},
                                                   {WorkerEnd::clock_off, "clock_off"},
                                                   {WorkerEnd::wrong_device, "wrong_device"},
                                                   {WorkerEnd::device_taken, "device_taken"},
                                                   {WorkerEnd::sentinel, "sentinel"},
                                                   {WorkerEnd::cannot_judge, "cannot_judge"},
                                                   {WorkerEnd::bad_answer, "bad_answer"},
                                                   {WorkerEnd::driver_ended, "driver_ended"}}};
constexpr EnumWords<PlacementState, 4> kPlacementStates = {{{PlacementState::answered, "answered"},
                                                            {PlacementState::given_back, "given_back"},
                                                            {PlacementState::rebased, "rebased"},
                                                            {PlacementState::interrupted, "interrupted"}}};

// The machines that judged for one campaign as this one did, and itself.
constexpr std::string_view kPeers =
    "WITH member AS (SELECT id AS campaign, machine FROM campaign UNION SELECT campaign, machine FROM worker"
    " WHERE machine IS NOT NULL) SELECT m.key FROM machine m WHERE m.id IN (SELECT b.machine FROM member b"
    " WHERE b.campaign IN (SELECT w.campaign FROM worker w) AND b.campaign IN (SELECT a.campaign FROM member a"
    " JOIN machine x ON x.id = a.machine WHERE x.key = ?1)) UNION SELECT ?1";

}  // namespace

std::string_view to_string(WorkerEnd end) {
  return word_of(kWorkerEnds, end);
}
std::optional<WorkerEnd> worker_end_from(std::string_view word) {
  return value_of(kWorkerEnds, word);
}
std::string_view to_string(PlacementState state) {
  return word_of(kPlacementStates, state);
}
std::optional<PlacementState> placement_state_from(std::string_view word) {
  return value_of(kPlacementStates, word);
}

std::string Journal::Implementation::peers(const std::string& machine) {
  std::vector<std::string> keys;
  Statement rows = database.query(kPeers, {machine});
  while (rows.step()) {
    keys.push_back(rows.text());
  }
  return encode(keys);
}

std::int64_t Journal::add_worker(const WorkerRow& worker) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO worker (campaign, number, command, machine, device, started_at) VALUES (?, ?, ?, ?, ?, ?)",
      {worker.campaign, worker.number, worker.command,
       Value::reference(worker.machine.empty() ? 0 : self_->machine_row(worker.machine)), worker.device,
       time_or_now(worker.started_at)});
  transaction.commit();
  return id;
}

void Journal::end_worker(std::int64_t worker, WorkerEnd reason, const std::string& note) {
  self_->database.run("INSERT INTO worker_end (worker, reason, note, ended_at) VALUES (?, ?, ?, ?)",
                      {worker, to_string(reason), note, utc_now()});
}

std::vector<WorkerRow> Journal::workers(std::int64_t campaign) {
  std::vector<WorkerRow> result;
  Statement rows = self_->database.query(
      "SELECT w.id, w.number, w.command, coalesce(w.machine_id, ''), w.device, w.started_at, w.state, w.note,"
      " w.ended_at, w.machine, w.experiments, w.lost, w.seconds, c.label, p.started_at FROM workers w"
      // An older one that is open is an acceptance that waits for another device.
      " LEFT JOIN placement p ON p.id = (SELECT max(id) FROM placement WHERE worker = w.id)"
      " AND p.id NOT IN (SELECT placement FROM placement_end)"
      " LEFT JOIN configuration c ON c.id = p.candidate WHERE w.campaign = ? ORDER BY w.number, w.id",
      {campaign});
  while (rows.step()) {
    WorkerRow worker{.id = rows.integer(), .campaign = campaign};
    worker.number = rows.small();
    worker.command = rows.text();
    worker.machine = rows.text();
    worker.device = rows.text();
    worker.started_at = rows.text();
    const std::string state = rows.text();
    worker.end = state == "open" ? std::nullopt : std::optional(known(worker_end_from(state), state));
    worker.note = rows.text();
    worker.ended_at = rows.text();
    worker.model = rows.text();
    worker.experiments = rows.small();
    worker.lost = rows.small();
    worker.busy_s = rows.real();
    worker.candidate = rows.text();
    worker.busy_since = rows.text();
    result.push_back(std::move(worker));
  }
  return result;
}

std::vector<std::int64_t> Journal::campaigns_with_workers() {
  std::vector<std::int64_t> campaigns;
  Statement rows = self_->database.query("SELECT DISTINCT campaign FROM worker ORDER BY campaign DESC");
  while (rows.step()) {
    campaigns.push_back(rows.integer());
  }
  return campaigns;
}

double Journal::answers_an_hour(std::int64_t campaign) {
  Statement row = self_->database.query(
      "SELECT sum(experiments), 24 * (julianday(max(coalesce(ended_at, ?))) - julianday(min(started_at))) FROM workers"
      " WHERE campaign = ?",
      {utc_now(), campaign});
  row.step();
  const double answers = row.real();
  const double hours = row.real();
  return hours > 0 ? answers / hours : 0;
}

std::int64_t Journal::begin_placement(const Placement& placement) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO placement (worker, iteration, replicates, idx, candidate, incumbent, predicted_low, predicted_high,"
      " started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {placement.worker, placement.iteration, Value::reference(placement.replicates), placement.index,
       self_->configuration_row(placement.candidate), self_->configuration_row(placement.incumbent),
       placement.prediction.low, placement.prediction.high, time_or_now(placement.started_at)});
  transaction.commit();
  return id;
}

void Journal::end_placement(std::int64_t placement, const PlacementEnd& end) {
  self_->database.run(
      "INSERT INTO placement_end (placement, state, experiment, note, seconds, ended_at) VALUES (?, ?, ?, ?, ?, ?)",
      {placement, to_string(end.state), Value::reference(end.experiment), end.note, end.seconds, utc_now()});
}

std::optional<WorkerRow> Journal::worker_of(std::int64_t experiment) {
  Statement row = self_->database.query(
      "SELECT w.id, w.campaign, w.number, w.device FROM placement_end e JOIN placement p ON p.id = e.placement"
      " JOIN worker w ON w.id = p.worker WHERE e.experiment = ?",
      {experiment});
  if (!row.step()) {
    return std::nullopt;
  }
  WorkerRow worker{.id = row.integer(), .campaign = row.integer(), .number = row.small()};
  worker.device = row.text();
  return worker;
}

int Journal::end_interrupted_workers(std::int64_t campaign) {
  Transaction transaction(self_->database);
  self_->database.run(
      "INSERT INTO placement_end (placement, state, experiment, note, seconds, ended_at)"
      " SELECT p.id, 'interrupted', NULL, 'the driver ended', 0, ? FROM placement p JOIN worker w ON w.id = p.worker"
      " WHERE w.campaign = ? AND p.id NOT IN (SELECT placement FROM placement_end)",
      {utc_now(), campaign});
  self_->database.run(
      "INSERT INTO worker_end (worker, reason, note, ended_at) SELECT id, 'driver_ended', '', ? FROM worker"
      " WHERE campaign = ? AND id NOT IN (SELECT worker FROM worker_end)",
      {utc_now(), campaign});
  Statement changed = self_->database.query("SELECT changes()");
  changed.step();
  const int ended = changed.small();
  transaction.commit();
  return ended;
}

}  // namespace apo
