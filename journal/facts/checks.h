// journal/facts/checks.h - writes and reads what keeps the judge honest: certifications and sentinels, and which code
// was proven wrong, and at which call.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/records/campaign.h"
#include "harness/core/records/conditions.h"
#include "harness/core/records/experiment.h"
#include "harness/core/records/variant.h"

namespace apo {

class Journal;

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

std::int64_t add_certification(Journal& journal, const Certification& certification,
                               const std::vector<Round>& rounds = {}, const std::vector<SoloRun>& solo_runs = {});
std::vector<Certification> certifications_of(Journal& journal, std::int64_t campaign);
// The accepted experiments that an alarm has withdrawn: those since the last certification without one.
std::set<std::int64_t> withdrawn_accepts(Journal& journal, std::int64_t campaign);
// The accepted experiments that are not withdrawn, in order, without their rounds.
std::vector<Experiment> standing_accepts(Journal& journal, std::int64_t campaign);
std::int64_t add_sentinel(Journal& journal, const SentinelRow& sentinel, const std::vector<Round>& rounds = {});
std::vector<SentinelRow> sentinels_of(Journal& journal, std::int64_t campaign);  // 0: those outside campaigns
std::vector<Round> sentinel_rounds(Journal& journal, std::int64_t sentinel);

// The oldest experiment that proved the candidate's code wrong, on any machine: this text with these settings, or where
// timed calls were wrong, this machine code on the same single workload, under the same contract.
std::optional<std::int64_t> oldest_proof_of_wrong(Journal& journal, const Experiment& candidate);
// Where the gates of an experiment found outputs wrong.
struct KnownCase {
  std::int64_t experiment = 0;
  WrongCase where;
};
// The case of this experiment, if it has one, then that of the newest other one of the family.
std::vector<KnownCase> wrong_cases(Journal& journal, const std::string& family,
                                   const std::optional<std::int64_t>& experiment);

}  // namespace apo
