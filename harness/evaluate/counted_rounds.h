// harness/evaluate/counted_rounds.h - as many rounds that count as are wanted: sentinel, study of noise, certification,
// a claim beside the baseline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/plan.h"
#include "harness/evaluate/rounds/round_source.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

struct SentinelResult {
  SentinelCheck check;
  std::vector<Round> rounds;
  double lower = 0;  // 98 % interval of the effect
  double upper = 0;
  double seconds = 0;
  std::string smaller_workload;  // that it ran on, where calls of those of the plan are long
};
// Judges rounds whose two arms are identical; `label` is shown. One alarm stops nothing: its rounds are kept as void,
// and a second sentinel decides. Throws EnvironmentError when the rounds do not run.
SentinelResult run_sentinel(const RoundSource& source, const std::string& label, const JudgePreset& preset,
                            const std::vector<double>& earlier_effects, Observer& observer);
// On a small workload of the family where calls of one of the plan's own are long on a host. Throws EnvironmentError
// when the configuration does not even run.
SentinelResult run_sentinel(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                            int index, const std::vector<double>& earlier_effects, Observer& observer);

// Identical code seemed to differ: the machine cannot judge.
class SentinelAlarm : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};
// The preset that fits what a sentinel saw.
JudgePreset preset_after(const SentinelResult& sentinel, LayoutControl layout);
// Throws SentinelAlarm.
void check_passed(const SentinelCheck& check);

// `processes` fresh processes of rounds in which both arms are the same, nested so that each level's share shows; of
// the first workload of the plan. Throws EnvironmentError when the configuration does not even run.
std::vector<Round> run_noise_study(const Runtime& runtime, const Configuration& configuration, const EvaluatePlan& plan,
                                   int index, const NoiseDesign& design, int processes, Observer& observer);

// The final incumbent against the campaign's baseline over kCertificationRounds fresh rounds, then each of them alone.
struct CertificationResult {
  Certification certification;
  std::vector<Round> rounds;
  std::vector<SoloRun> solo_runs;
};
CertificationResult run_certification(const Runtime& runtime, const Configuration& incumbent,
                                      const Configuration& baseline, double claimed_effect, const EvaluatePlan& plan,
                                      int index, Observer& observer);

// The two arms of a claim against the plan's baseline over kBaselineRounds fresh rounds each. A claim that does not
// seem to hold is looked at once more, in new rounds, which decide. Throws EnvironmentError where the baseline does not
// run.
BaselineClaim hold_against_baseline(const Runtime& runtime, const Experiment& experiment, const EvaluatePlan& plan,
                                    Observer& observer);

}  // namespace apo
