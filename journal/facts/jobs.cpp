// journal/facts/jobs.cpp - writes what `apo mcp` was asked for and how it ended, and reads it.
#include "journal/columns.h"

namespace apo {

std::int64_t Journal::begin_job(const JobRow& job) {
  Transaction transaction(self_->database);
  const std::int64_t id = insert_row(*self_, "job", job, {{"started_at", time_or_now(job.started_at)}});
  self_->take(Task::job, id);  // before anybody can see it open and unattended
  transaction.commit();
  return id;
}

void Journal::finish_job(std::int64_t id, const JobEnd& end) {
  insert_row(*self_, "job_end", end, {{"job", id}, {"ended_at", time_or_now(end.at)}});
}

std::optional<JobRow> Journal::job(std::int64_t id) {
  std::optional<JobRow> job = first_of(read_rows<JobRow>(*self_, "job WHERE id = ?", {id}));
  if (job) {
    job->end = first_of(read_rows<JobEnd>(*self_, "job_end WHERE job = ?", {id}));
    job->experiments = read_rows<JobExperiment>(
        *self_, "experiments WHERE id IN (SELECT experiment FROM job_experiment WHERE job = ?) ORDER BY id", {id});
  }
  return job;
}

bool Journal::job_has_server(std::int64_t id) const {
  return self_->holder(Task::job, id).has_value();
}

}  // namespace apo
