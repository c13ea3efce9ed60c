// harness/evaluate/certification.h - certifies a campaign's incumbent against its baseline in fresh rounds.
#pragma once

#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

// The final incumbent against the campaign's baseline over kCertificationRounds fresh rounds, then each of them alone.
struct CertificationResult {
  Certification certification;
  std::vector<Round> rounds;
  std::vector<SoloRun> solo_runs;
};
CertificationResult run_certification(const Runtime& runtime, const Configuration& incumbent,
                                      const Configuration& baseline, double claimed_effect, const EvaluatePlan& plan,
                                      int index, Observer& observer);

}  // namespace apo
