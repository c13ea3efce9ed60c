// harness/evaluate/evaluate.h - one experiment: the gates, cheapest first, then timing and the verdict.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/core/records.h"
#include "harness/evaluate/judge_campaign.h"
#include "harness/evaluate/judge_comparison.h"
#include "harness/evaluate/lab.h"
#include "harness/evaluate/noise_levels.h"
#include "harness/evaluate/round_runner.h"

namespace apo {

struct EvaluatePlan {
  std::vector<const Workload*> workloads;
  JudgeProfile profile;
  int index = 1;  // j of the campaign
  CachePolicy cache = CachePolicy::cold;
  std::uint64_t seed = 0;                  // of the campaign; the comparison's name keeps experiments apart
  bool sanitize = true;                    // run the sanitizer gate
  bool trusted = false;                    // skip correctness and sanitizers: both arms have passed them before
  int confirm_rounds = 0;                  // > 0: the confirmation stage alone, over so many rounds
  bool time_same_code = false;             // do not stop at identical machine code: an A/A run
  std::map<std::string, double> floor_ns;  // by workload; absent = no floor known
  RoundOptions rounds = {};                // how rounds are laid out
  double segment_s =
      kSegmentSeconds;     // of a certification: how long each arm runs alone, 24 times a workload; 0: never
  std::string trial = {};  // keeps comparisons apart that share an experiment's number
};

// Called as soon as each fact is there, so that a crash loses nothing that was finished.
struct EvaluateHooks {
  std::function<void(const Build&, bool candidate)> on_build;
  std::function<void(const GateResult&)> on_gate;
  std::function<void(const Round&)> on_round;
  std::function<void(const std::string& what, int done, int expected, double seconds_left)> on_progress;
  std::function<void(const std::string& line)> on_note;  // what is worth a line, such as a long wait
};

// Fills outcome, gates, builds, rounds and judgement of an experiment whose candidate, incumbent and prediction are
// set.
void evaluate(const Lab& lab, Experiment& experiment, const EvaluatePlan& plan, const EvaluateHooks& hooks);

// Both arms the same: what this machine and this judge make of nothing.
struct SentinelResult {
  SentinelCheck check;
  std::vector<Round> rounds;
  double lower = 0;  // 98 % interval of the effect
  double upper = 0;
  double seconds = 0;
};
// Throws EnvironmentError when the configuration does not even run.
SentinelResult run_sentinel(const Lab& lab, const Configuration& configuration, const EvaluatePlan& plan, int index,
                            const std::vector<double>& earlier_effects, const EvaluateHooks& hooks);

// `processes` fresh processes of rounds in which both arms are the same, nested so that each level's share shows; of
// the first workload of the plan. Throws EnvironmentError when the configuration does not even run.
std::vector<Round> run_noise_study(const Lab& lab, const Configuration& configuration, const EvaluatePlan& plan,
                                   int index, const NoiseDesign& design, int processes, const EvaluateHooks& hooks);

// The champion against the campaign's baseline over kCertificationRounds fresh rounds, then each of them alone.
struct CertificationResult {
  Certification certification;
  std::vector<Round> rounds;
  std::vector<Segment> segments;
};
CertificationResult run_certification(const Lab& lab, const Configuration& champion, const Configuration& baseline,
                                      double claimed_effect, const EvaluatePlan& plan, int index,
                                      const EvaluateHooks& hooks);

}  // namespace apo
