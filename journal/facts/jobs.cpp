// journal/facts/jobs.cpp - writes what `apo mcp` was asked for and how it ended, and reads it.
#include "journal/facts/jobs.h"

#include "journal/columns.h"

namespace apo {

APO_COLUMNS(JobRow, id, tool, arguments, started_at)
APO_COLUMNS_AS(JobEnd, "state, exit_code, document, message, ended_at", state, exit_code, document, message, at)
APO_COLUMNS(JobExperiment, id, candidate, state, verdict)

std::int64_t begin_job(Journal& journal, const JobRow& job) {
  Transaction transaction(database_of(journal));
  const std::int64_t id = insert_row(journal, "job", job, {{"started_at", time_or_now(job.started_at)}});
  take(journal, Task::job, id);  // before anybody can see it open and unattended
  transaction.commit();
  return id;
}

void finish_job(Journal& journal, std::int64_t id, const JobEnd& end) {
  insert_row(journal, "job_end", end, {{"job", id}, {"ended_at", time_or_now(end.at)}});
}

std::optional<JobRow> find_job(Journal& journal, std::int64_t id) {
  std::optional<JobRow> job = first_of(read_rows<JobRow>(journal, "job WHERE id = ?", {id}));
  if (job) {
    job->end = first_of(read_rows<JobEnd>(journal, "job_end WHERE job = ?", {id}));
    job->experiments = read_rows<JobExperiment>(
        journal, "experiments WHERE id IN (SELECT experiment FROM job_experiment WHERE job = ?) ORDER BY id", {id});
  }
  return job;
}

bool job_has_server(Journal& journal, std::int64_t id) {
  return holder_of(journal, Task::job, id).has_value();
}

}  // namespace apo
