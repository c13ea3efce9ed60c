// journal/facts/jobs.h - writes what `apo mcp` was asked for and how it ended, and reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/words.h"

namespace apo {

class Journal;

// The end of a job's command. A job without one is running, or was interrupted with its server.
enum class JobState : std::uint8_t { done, failed, cancelled };
APO_WORDS(JobState, job_state_from, done, failed, cancelled)

struct JobEnd {
  JobState state = JobState::done;
  std::optional<int> exit_code;  // absent where a signal ended it
  std::string document;          // JSON; "" where there is none
  std::string message;
  std::string at;
  bool operator==(const JobEnd&) const = default;
};
APO_FIELDS(JobEnd, state, exit_code, document, message, at)

struct JobExperiment {
  std::int64_t id = 0;
  std::string candidate;
  std::string state;    // finished, abandoned or running
  std::string verdict;  // "" until it is finished
  bool operator==(const JobExperiment&) const = default;
};
APO_FIELDS(JobExperiment, id, candidate, state, verdict)

// A call of `apo mcp` that judges or measures.
struct JobRow {
  std::int64_t id = 0;
  std::string tool;
  std::string arguments;  // JSON
  std::string started_at;
  std::optional<JobEnd> end;
  std::vector<JobExperiment> experiments;  // that its command began
  bool operator==(const JobRow&) const = default;
};
APO_FIELDS(JobRow, id, tool, arguments, started_at, end, experiments)

// Experiments that a process with APO_JOB=<id> in its environment begins belong to that job.
std::int64_t begin_job(Journal& journal, const JobRow& job);  // and takes it, until this journal is closed
void finish_job(Journal& journal, std::int64_t id, const JobEnd& end);
std::optional<JobRow> find_job(Journal& journal, std::int64_t id);
bool job_has_server(Journal& journal, std::int64_t id);  // false: nobody works on it any more

}  // namespace apo
