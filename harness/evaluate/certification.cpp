// harness/evaluate/certification.cpp - rounds of both, then each alone, and the claim that holds in them.
#include "harness/evaluate/certification.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge_campaign.h"
#include "harness/evaluate/segments.h"
#include "kernels/random.h"

namespace apo {

CertificationResult run_certification(const Lab& lab, const Configuration& champion, const Configuration& baseline,
                                      double claimed_effect, const EvaluatePlan& plan, int index,
                                      const EvaluateHooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "certify", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = 1;  // what is published owes nothing to a process that was shared
  const std::vector<TimedWorkload> pairs = build_pair(lab, baseline, champion, plan, seed);
  SegmentPlan alone{.coins = {.campaign_seed = seed, .comparison = champion.label()},
                    .profile = plan.profile,
                    .cache = plan.cache,
                    .rounds = options,
                    .segment_s = plan.segment_s};
  CertificationResult result;
  const bool cold = plan.cache == CachePolicy::cold;
  const std::string what =
      std::string("certify ") + (cold ? "cold " : "warm ") + champion.label() + " against " + baseline.label();
  double waited_s = 0;
  {
    RoundRunner runner(lab, pairs, plan.profile, seed, champion.label(), plan.cache, options);
    result.rounds = run_rounds(lab, runner, "certify", kCertificationRounds, plan.profile, hooks, what, waited_s);
    alone.repetitions = runner.repetitions();
  }
  std::vector<Round> counted;
  std::copy_if(result.rounds.begin(), result.rounds.end(), std::back_inserter(counted),
               [](const Round& round) { return round.void_why.empty(); });
  result.certification = certify(counted, claimed_effect);
  if (plan.segment_s > 0) {
    SegmentsResult segments = run_segments(lab, pairs, alone, what + ", each alone", hooks, waited_s);
    result.segments = std::move(segments.segments);
    result.certification.clock = segments.clock;
    // Host code shares a process with what reads the clock, and knows when it runs alone: that may only lower a claim.
    if (any_host_code(pairs) && segments.clock.time_effect > result.certification.effect) {
      result.certification.clock->coupled = false;
    }
  }
  result.certification.champion = champion;
  result.certification.baseline = baseline;
  result.certification.cache_policy = cold ? "cold" : "warm";
  result.certification.seconds = seconds_since(start) - waited_s;
  result.certification.at = utc_now();
  return result;
}

}  // namespace apo
