// harness/evaluate/segments.h - one arm alone for seconds, then the other: what each makes of the clock.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/core/records.h"
#include "harness/evaluate/evaluate_hooks.h"
#include "harness/evaluate/judge_campaign.h"
#include "harness/evaluate/judge_profile.h"
#include "harness/evaluate/lab.h"
#include "harness/evaluate/next_tensors.h"
#include "harness/evaluate/round_layout.h"
#include "harness/evaluate/round_session.h"
#include "harness/evaluate/timed_workload.h"

namespace apo {

// What the rounds before have fixed, for segments of the same comparison.
struct SegmentPlan {
  RoundCoins coins;
  JudgeProfile profile;
  CachePolicy cache = CachePolicy::cold;
  RoundOptions rounds;
  std::vector<int> repetitions;        // calls in a sample of each workload
  double segment_s = kSegmentSeconds;  // at least
};

// One block of segments of one workload, 0110 or 1001, in a fresh process with coins of its own.
struct SegmentBlockResult {
  std::vector<Segment> segments;  // 4; none where `missing` says why the clock cannot be read
  std::string missing;
};

// Runs blocks of segments. The workloads have to outlive it, and no RoundRunner may be at work meanwhile.
class SegmentRunner {
 public:
  SegmentRunner(const Lab& lab, const std::vector<TimedWorkload>& workloads, SegmentPlan plan);

  // `on_segment` is called before each segment. A Failure says which arm misbehaved: slot 0 is the incumbent and slot 1
  // the candidate here, -1 unknown.
  Result<SegmentBlockResult> run(int block, std::size_t which, const std::function<void(int segment)>& on_segment);

 private:
  Result<Done> warm_up(RoundSession& session, std::uint64_t order_seed, std::size_t which) const;
  Result<Segment> take_segment(RoundSession& session, int slot, std::size_t which, std::uint64_t look_seed,
                               const ClockWatch& watch) const;
  Result<SegmentBlockResult> take_block(RoundSession& session, int block, std::size_t which,
                                        const std::function<void(int segment)>& on_segment) const;

  const Lab& lab_;
  const std::vector<TimedWorkload>& workloads_;
  SegmentPlan plan_;
  NextTensors tensors_;
};

struct SegmentsResult {
  ClockCoupling clock;
  std::vector<Segment> segments;
};
// kSegmentBlocks blocks of each workload, or none where the clock cannot be read, and what they say. Each is a turn of
// the lab's; waits are added to `waited_s`. `what` is shown as progress. Throws EnvironmentError when an arm does not
// run.
SegmentsResult run_segments(const Lab& lab, const std::vector<TimedWorkload>& workloads, const SegmentPlan& plan,
                            const std::string& what, const EvaluateHooks& hooks, double& waited_s);

}  // namespace apo
