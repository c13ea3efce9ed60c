// reports/model.h - the model of a report on one campaign; a pure function of the journal's records.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/records/records.h"
#include "journal/facts/applications.h"
#include "journal/facts/checks.h"
#include "journal/facts/workers.h"

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

using Application = RecordedApplication;

// Everything that the journal holds about one campaign, in any order.
struct CampaignRecords {
  Campaign campaign;
  Machine machine;
  std::vector<Toolchain> toolchains;  // besides those that the experiments' builds name
  std::vector<IterationRecord> iterations;
  std::vector<Experiment> experiments;
  std::vector<Lesson> lessons;
  std::vector<Certification> certifications;
  std::set<std::int64_t> withdrawn;  // accepted experiments that an alarm of a certification has withdrawn
  std::vector<SentinelRow> sentinels;
  std::vector<Application> applications;          // newest first
  std::vector<ProgramComparison> comparisons;     // that ended it, and those on its machine alone
  std::vector<ProposerCall> proposer_calls;       // in order
  std::vector<WorkerRow> workers;                 // that judged for it
  std::map<std::int64_t, std::string> judged_on;  // experiment -> the device of its worker
  // Accepted experiment -> what it changed in its incumbent's source; "" where the sources are the same.
  std::map<std::int64_t, std::string> diffs;
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

// A prediction and the effect that was measured.
struct PredictionOutcome {
  int index = 0;
  std::int64_t experiment = 0;
  std::string candidate;
  std::string incumbent;  // that both are over
  Prediction prediction;
  double effect = kNotMeasured;  // log; NaN where the candidate was not timed
  bool inside = false;
};

struct PredictionScore {
  int predicted = 0;
  int scored = 0;  // predicted and measured
  int inside = 0;
  double mean_error = kNotMeasured;  // log of measured / middle; > 0: better than predicted
  double mean_absolute_error = kNotMeasured;
  double mean_absolute_effect = kNotMeasured;  // the error of who always predicts 1x
  int pairs = 0;                               // of two measured over one incumbent whose predictions differ
  int right_pairs = 0;                         // the one with the higher prediction was faster
  double chance = kNotMeasured;                // that predictions dealt out at random do as well
};

// The records in order, and what follows from them.
struct ReportModel : CampaignRecords {
  // Of CampaignRecords: `toolchains`, sorted and each once; `experiments`, the judged ones, by index; iterations by
  // index, lessons and certifications by id, sentinels by time.
  std::string last_event_at;  // the latest time in the records
  std::string incumbent;      // label of the incumbent that stands: accepted last and not withdrawn
  bool improved = false;      // the final incumbent came from an accept; false: it is the baseline itself
  std::vector<TrajectoryPoint> trajectory;
  double naive_effect = 0;            // log of the product of the accepted effects: no claim
  double shrunken_effect = 0;         // the same with each effect's luck taken off (shrunken_effect()): no claim either
  std::vector<Experiment> abandoned;  // that have no verdict and will get none
  std::vector<Experiment> under_way;  // not judged yet in an open campaign
  std::vector<Profile> first_profiles;  // of the first iteration that has any
  std::vector<Profile> last_profiles;   // of the last one, where that is another iteration
  // The newest for the final incumbent under the campaign's cache policy: the only claim.
  std::optional<Certification> claim;
  std::vector<PredictionOutcome> predictions;
  PredictionScore prediction_score;
};

ReportModel build_model(CampaignRecords records);

// Pure: `chance` comes from shuffles with a fixed seed.
PredictionScore score_predictions(const std::vector<PredictionOutcome>& outcomes);

// Shrinks an accepted effect. Accepted candidates were lucky as well as fast, so that the product of accepted effects
// is too large (the winner's curse). Returns the effect times max(0, 1 - (s / effect)^2), where s is its standard
// error, from its interval: the normal posterior mean round "no effect", with the spread of true effects estimated from
// this effect itself (positive-part empirical Bayes: Morris 1983; van Houwelingen & le Cessie 1990 for the factor of a
// single effect). An effect ten times its error keeps 99 % of it, one that just passed the confirmation 82 %. It is a
// check beside the certification, no claim. NaN where there is no finite interval.
double shrunken_effect(const Judgement& judgement);

}  // namespace apo::report
