// journal/rows.h - what the journal is given and gives back, row by row, beside the records of harness/core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/recording/application_profile.h"
#include "harness/core/records/records.h"
#include "harness/core/words.h"

namespace apo {

// One turn of the loop.
struct IterationRow {
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  int index = 0;  // from 1
  Configuration incumbent;
  std::string started_at;
  std::string ended_at;  // empty while under way
  std::string note;
  bool operator==(const IterationRow&) const = default;
};

// The owners of a profile; 0 and "" where there is none.
struct ProfileContext {
  std::string machine;  // Machine::id
  std::int64_t iteration = 0;
  std::int64_t experiment = 0;
  std::string source_hash;  // of the profiled variant, when it is registered
};

// A stored profile without its numbers.
struct ProfileRow {
  std::int64_t id = 0;
  Configuration configuration;
  std::string machine;  // Machine::id
  std::string source_hash;
  std::string workload;
  std::string conditions;  // Profile::conditions; "" of a journal of schema 2 or older, or without counters
  std::string at;
};

// An A/A comparison: the same code in both slots, so any effect is the machine's or the judge's.
struct SentinelRow {
  std::int64_t id = 0;
  std::int64_t campaign = 0;  // 0 outside a campaign
  std::string machine;
  Configuration configuration;
  double effect = 0;  // natural log, as in Judgement
  double lower = 0;
  double upper = 0;
  double confidence = 0;
  double sd = 0;  // of a round's effect: it sets the judge's profile
  double p_value = 1;
  int rounds = 0;
  bool alarm = false;
  std::string preset;
  CachePolicy cache_policy = CachePolicy::cold;
  std::string rule_version;
  double seconds = 0;
  std::string at;
  bool operator==(const SentinelRow&) const = default;
};

struct Incumbent {
  std::string family;
  std::string workload_class;
  std::string machine;  // Machine::id
  Configuration configuration;
  std::string source_hash;      // "" when a baseline was never registered
  std::int64_t experiment = 0;  // the one that accepted it; 0 for a campaign's baseline
  std::int64_t campaign = 0;
  std::string since;
};

// The incumbent of one workload: what was accepted last there, or what stood there against a configuration that was
// accepted on this or another workload of the class.
struct WorkloadIncumbent {
  std::string workload;
  Incumbent incumbent;  // `experiment` decided it
  bool stood = false;   // as the incumbent of that experiment, whose candidate was slower
};

// A row that a killed process left open.
enum class UnfinishedKind : std::uint8_t { experiment, iteration, campaign };
APO_WORDS(UnfinishedKind, unfinished_kind_from, experiment, iteration, campaign)

struct Unfinished {
  using Kind = UnfinishedKind;
  Kind kind = Kind::experiment;
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  std::string what;  // "experiment 12: e88_backward/simple[K=2]"
  std::string started_at;
  int rounds = 0;  // already measured, for an experiment
};

enum class ReplayKind : std::uint8_t { confirm, replay };  // its confirmation stage alone, or the whole judgement
APO_WORDS(ReplayKind, replay_kind_from, confirm, replay)

// An experiment that measures an older one again.
struct ReplayRow {
  using Kind = ReplayKind;
  std::int64_t experiment = 0;
  std::int64_t original = 0;
  Kind kind = Kind::replay;
  std::string at;
  bool operator==(const ReplayRow&) const = default;
};

struct LessonFilter {  // empty = any
  std::string family;
  std::string workload_class;
  std::string machine;
  std::string model;  // of the machine
  std::string variant;
  std::string technique;
  std::optional<Verdict> verdict;
  std::int64_t campaign = 0;
  std::int64_t experiment = 0;
  std::string incumbent_source;
  std::int64_t newest = 0;  // only among so many newest ones of exactly this family, class and model; 0: among all
};

// A profile of an application, as far as research needs it: without categories, gaps, ranges, processes and metrics.
struct ApplicationRow {
  std::int64_t id = 0;
  std::string command;
  ApplicationSummary summary;
};

// A profile of an application with the first rows of each list, for people.
struct RecordedApplication {
  std::int64_t id = 0;
  std::string at;
  std::string source;   // "run", "nsys" or "ncu"
  std::string command;  // or the imported file
  double total_ns = 0;
  double busy_ns = 0;
  double span_ns = 0;         // 0 where it is not known
  std::vector<WorkRow> work;  // by time
  std::int64_t kernels = 0;   // rows of all its work
  std::vector<CategoryRow> categories;
  std::vector<RangeRow> ranges;       // that launched something, depth first
  std::int64_t all_ranges = 0;        // that did
  std::vector<KernelMetric> metrics;  // of an import from ncu
  std::vector<std::string> notes;     // what the numbers lack
};

struct ApplicationLimits {  // rows at most
  int applications = 3;
  int work = 10;
  int ranges = 20;
  int metrics = 60;
};

// On which an experiment judged.
struct JudgedWorkload {
  std::int64_t experiment = 0;
  std::string workload;  // its first one
};

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

struct Compacted {
  std::int64_t rounds = 0;        // that lost their timed calls, counted once a workload
  std::int64_t sampled_rows = 0;  // sampled instructions that became one row with others of their line and state
  std::int64_t bytes_before = 0;  // of the file
  std::int64_t bytes_after = 0;
};

}  // namespace apo
