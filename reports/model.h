// reports/model.h - the model of a report on one campaign; a pure function of the journal's records.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "journal/journal.h"
#include "reports/prediction_score.h"

namespace apo::report {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// One turn of the loop as it was written down.
struct IterationRecord {
  std::int64_t id = 0;
  int index = 0;  // from 1
  std::string started_at;
  Configuration incumbent;
  std::vector<Profile> profiles;  // of that incumbent, one a workload
  ResearchBrief brief;
};

// An A/A comparison: the same code in both slots, so that any effect is the machine's or the judge's.
// Effects are natural logs, as in Judgement.
struct Sentinel {
  std::string at;
  Configuration configuration;
  double effect = kNotMeasured;
  double lower = kNotMeasured;
  double upper = kNotMeasured;
  double confidence = kNotMeasured;
  double spread = kNotMeasured;  // standard deviation of a round's effect
  int rounds = 0;
  bool alarm = false;
  CachePolicy cache_policy = CachePolicy::cold;
};

using Application = RecordedApplication;

// Everything that the journal holds about one campaign, in any order.
struct CampaignRecords {
  Campaign campaign;
  std::string ended_at;
  std::string end_note;
  Machine machine;
  std::vector<Toolchain> toolchains;  // besides those that the experiments' builds name
  std::vector<IterationRecord> iterations;
  std::vector<Experiment> experiments;
  std::vector<Lesson> lessons;
  std::vector<Certification> certifications;
  std::set<std::int64_t> withdrawn;  // accepted experiments that an alarm of a certification has withdrawn
  std::vector<Sentinel> sentinels;
  std::map<std::int64_t, std::string> abandonments;  // experiment -> why it will not be finished
  std::vector<Application> applications;             // newest first
  std::vector<ProgramComparison> comparisons;        // that ended it, and those on its machine alone
  std::vector<ProposerCall> proposer_calls;          // in order
  std::vector<WorkerRow> workers;                    // that judged for it
  std::map<std::int64_t, std::string> judged_on;     // experiment -> the device of its worker
  std::map<std::int64_t, std::string> diffs;         // accepted experiment -> what it changed in its incumbent's source
};

// The state of the campaign after one judged experiment. Index 0 is the baseline.
struct TrajectoryPoint {
  int index = 0;
  std::int64_t experiment = 0;
  std::string incumbent;  // label after it
  bool accepted = false;
  bool withdrawn = false;
  double cumulative = 0;            // log of the naive product of the accepted effects; NaN once one is missing
  double candidate = kNotMeasured;  // log of where the candidate would have led: its incumbent's product x its effect
};

// A point of the roofline: one profile.
struct RooflinePoint {
  std::string label;
  double intensity = kNotMeasured;  // flop/byte, compulsory work
  double flops_per_s = kNotMeasured;
  double floor_flops_per_s = kNotMeasured;  // the rate at the physical floor
};

// An experiment that has no verdict and will get none.
struct Abandoned {
  Experiment experiment;
  std::string why;
};

struct ReportModel {
  Campaign campaign;
  std::string ended_at;
  std::string end_note;
  std::string last_event_at;  // the latest time in the records
  Machine machine;
  std::vector<Toolchain> toolchains;  // sorted, each once
  std::string incumbent;              // label of the incumbent that stands: accepted last and not withdrawn
  bool improved = false;              // the final incumbent came from an accept; false: it is the baseline itself
  std::vector<TrajectoryPoint> trajectory;
  double naive_effect = 0;              // log of the product of the accepted effects: no claim
  double shrunken_effect = 0;           // the same with each effect's luck taken off (shrinkage.h): no claim either
  std::vector<Experiment> experiments;  // judged ones, by index
  std::vector<Abandoned> abandoned;
  std::vector<Experiment> under_way;          // not judged yet in an open campaign
  std::vector<IterationRecord> iterations;    // by index
  std::vector<Profile> first_profiles;        // of the first iteration that has any
  std::vector<Profile> last_profiles;         // of the last one, where that is another iteration
  std::vector<Lesson> lessons;                // by id
  std::vector<Certification> certifications;  // by id
  std::optional<Certification>
      claim;                        // newest for the final incumbent under the campaign's cache policy: the only claim
  std::vector<Sentinel> sentinels;  // by time
  std::vector<PredictionOutcome> predictions;
  PredictionScore prediction_score;
  std::vector<Application> applications;          // newest first
  std::vector<ProgramComparison> comparisons;     // its own first
  std::vector<ProposerCall> proposer_calls;       // in order
  std::vector<WorkerRow> workers;                 // that judged for it
  std::map<std::int64_t, std::string> judged_on;  // experiment -> the device of its worker
  std::map<std::int64_t, std::string> diffs;      // as in CampaignRecords; "" where the sources are the same
};

ReportModel build_model(CampaignRecords records);

// The gate that stopped it, or nullptr.
const GateResult* failed_gate(const Experiment& experiment);

// A metric in base units ("12 Gflop/s" is 12e9); NaN when absent.
double metric_in_base_units(const Profile& profile, const std::string& name);
RooflinePoint roofline_point(const Profile& profile);

}  // namespace apo::report
