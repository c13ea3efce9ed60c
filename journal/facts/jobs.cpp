// journal/facts/jobs.cpp - writes what `apo mcp` was asked for and how it ended, and reads it.
#include "harness/core/words.h"
#include "journal/implementation.h"

namespace apo {
namespace {

constexpr EnumWords<JobState, 3> kJobStates = {
    {{JobState::done, "done"}, {JobState::failed, "failed"}, {JobState::cancelled, "cancelled"}}};

std::optional<JobEnd> read_end(Database& database, std::int64_t job) {
  Statement row =
      database.query("SELECT state, exit_code, document, message, ended_at FROM job_end WHERE job = ?", {job});
  if (!row.step()) {
    return std::nullopt;
  }
  JobEnd end;
  const std::string state = row.text();
  end.state = known(job_state_from(state), state);
  if (row.next_is_null()) {
    row.text();
  } else {
    end.exit_code = row.small();
  }
  end.document = row.text();
  end.message = row.text();
  end.at = row.text();
  return end;
}

std::vector<JobExperiment> read_experiments(Database& database, std::int64_t job) {
  std::vector<JobExperiment> experiments;
  Statement rows = database.query(
      "SELECT e.id, e.candidate, e.state, coalesce(e.verdict, '') FROM job_experiment j"
      " JOIN experiments e ON e.id = j.experiment WHERE j.job = ? ORDER BY e.id",
      {job});
  while (rows.step()) {
    JobExperiment experiment{.id = rows.integer()};
    experiment.candidate = rows.text();
    experiment.state = rows.text();
    experiment.verdict = rows.text();
    experiments.push_back(std::move(experiment));
  }
  return experiments;
}

}  // namespace

std::string_view to_string(JobState state) {
  return word_of(kJobStates, state);
}

std::optional<JobState> job_state_from(std::string_view word) {
  return value_of(kJobStates, word);
}

std::int64_t Journal::begin_job(const JobRow& job) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert("INSERT INTO job (tool, arguments, started_at) VALUES (?, ?, ?)",
                                                 {job.tool, job.arguments, time_or_now(job.started_at)});
  self_->take(Task::job, id);  // before anybody can see it open and unattended
  transaction.commit();
  return id;
}

void Journal::finish_job(std::int64_t id, const JobEnd& end) {
  const Value exit_code = end.exit_code ? Value(*end.exit_code) : Value(nullptr);
  self_->database.run(
      "INSERT INTO job_end (job, state, exit_code, document, message, ended_at) VALUES (?, ?, ?, ?, ?, ?)",
      {id, to_string(end.state), exit_code, end.document, end.message, time_or_now(end.at)});
}

std::optional<JobRow> Journal::job(std::int64_t id) {
  Statement row = self_->database.query("SELECT tool, arguments, started_at FROM job WHERE id = ?", {id});
  if (!row.step()) {
    return std::nullopt;
  }
  JobRow job{.id = id};
  job.tool = row.text();
  job.arguments = row.text();
  job.started_at = row.text();
  job.end = read_end(self_->database, id);
  job.experiments = read_experiments(self_->database, id);
  return job;
}

bool Journal::job_has_server(std::int64_t id) const {
  return apo::who_works_on(self_->path, Task::job, id).has_value();
}

}  // namespace apo
