// harness/evaluate/certification.cpp - runs rounds, then solo runs, and derives the certified claim.
#include "harness/evaluate/certification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/rounds/counted_rounds.h"
#include "harness/evaluate/rounds/solo_runs.h"
#include "kernels/random.h"

namespace apo {

CertificationResult run_certification(const Runtime& runtime, const Configuration& incumbent,
                                      const Configuration& baseline, double claimed_effect, const EvaluatePlan& plan,
                                      int index, Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t seed = derive_seed(plan.seed, "certify", static_cast<std::uint64_t>(index));
  RoundOptions options = plan.rounds;
  options.rounds_per_process = 1;  // a published number must not depend on a shared process
  const std::vector<TimedWorkload> pairs = build_pair(runtime, baseline, incumbent, plan, seed, observer);
  SoloRunPlan alone{.coins = {.campaign_seed = seed, .comparison = incumbent.label()},
                    .preset = plan.preset,
                    .cache = plan.cache,
                    .rounds = options,
                    .solo_run_s = plan.solo_run_s};
  CertificationResult result;
  const std::string what =
      fmt::format("certify {} {} against {}", to_string(plan.cache), incumbent.label(), baseline.label());
  double waited_s = 0;
  {
    RoundRunner runner(runtime, pairs, plan.preset, seed, incumbent.label(), plan.cache, options);
    result.rounds = run_rounds(in_turns(runtime, runner, observer), RoundStage::certify, kCertificationRounds,
                               plan.preset, observer, what, waited_s);
    alone.repetitions = runner.repetitions();
    alone.windows = runner.windows();
  }
  std::vector<Round> counted;
  std::copy_if(result.rounds.begin(), result.rounds.end(), std::back_inserter(counted),
               [](const Round& round) { return round.void_why.empty(); });
  result.certification = certify(counted, claimed_effect);
  if (plan.solo_run_s > 0) {
    SoloRunsResult solo_runs = run_solo_runs(runtime, pairs, alone, what + ", each alone", observer, waited_s);
    result.solo_runs = std::move(solo_runs.solo_runs);
    result.certification.clock = solo_runs.clock;
    // Host code may know when it runs alone, and on a host it then sees the same inputs again and again: solo runs may
    // only lower its claim.
    if (any_host_code(pairs) && solo_runs.clock.time_effect > result.certification.effect) {
      result.certification.clock->coupled = false;
    }
  }
  result.certification.incumbent = incumbent;
  result.certification.baseline = baseline;
  result.certification.cache_policy = plan.cache;
  result.certification.seconds = seconds_since(start) - waited_s;
  result.certification.at = utc_now();
  return result;
}

}  // namespace apo
